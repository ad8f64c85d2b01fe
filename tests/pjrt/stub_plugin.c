// A PJRT plugin that does next to nothing. PAX_STUB_… definitions say what is wrong with it; see CMakeLists.txt.
#include <pjrt_c_api.h>
#include <stdlib.h>

#ifndef PAX_STUB_MAJOR
#define PAX_STUB_MAJOR PJRT_API_MAJOR
#endif
#ifndef PAX_STUB_MINOR
#define PAX_STUB_MINOR PJRT_API_MINOR
#endif
#ifndef PAX_STUB_SIZE
#define PAX_STUB_SIZE sizeof(PJRT_Api)
#endif

struct PJRT_Error {
  PJRT_Error_Code code;
  const char* message;
};

static PJRT_Error* fail(PJRT_Error_Code code, const char* message) {
  PJRT_Error* error = malloc(sizeof(PJRT_Error));
  error->code = code;
  error->message = message;
  return error;
}

static void error_destroy(PJRT_Error_Destroy_Args* args) { free(args->error); }

static void error_message(PJRT_Error_Message_Args* args) {
  args->message = args->error->message;
  size_t size = 0;
  while (args->message[size] != '\0') ++size;
  args->message_size = size;
}

static PJRT_Error* error_code(PJRT_Error_GetCode_Args* args) {
  args->code = args->error->code;
  return NULL;
}

static PJRT_Error* initialize(PJRT_Plugin_Initialize_Args* args) {
  (void)args;
#ifdef PAX_STUB_FAILS_TO_START
  return fail(PJRT_Error_Code_FAILED_PRECONDITION, "no device\nwas found\n");
#else
  return NULL;
#endif
}

static PJRT_Error* attributes(PJRT_Plugin_Attributes_Args* args) {
  (void)args;
  return fail(PJRT_Error_Code_UNIMPLEMENTED, "not in this stub");
}

static PJRT_Error* client_create(PJRT_Client_Create_Args* args) {
  (void)args;
  return fail(PJRT_Error_Code_RESOURCE_EXHAUSTED, "no memory for a client");
}

// Room for functions that a newer version may have behind the table known here.
static struct {
  PJRT_Api api;
  void* newer[8];
} table;

const PJRT_Api* GetPjrtApi(void) {
#ifdef PAX_STUB_NO_TABLE
  return NULL;
#endif
  table.api.struct_size = PAX_STUB_SIZE;
  table.api.pjrt_api_version.struct_size = PJRT_Api_Version_STRUCT_SIZE;
  table.api.pjrt_api_version.major_version = PAX_STUB_MAJOR;
  table.api.pjrt_api_version.minor_version = PAX_STUB_MINOR;
  table.api.PJRT_Error_Destroy = error_destroy;
  table.api.PJRT_Error_Message = error_message;
  table.api.PJRT_Error_GetCode = error_code;
  table.api.PJRT_Plugin_Initialize = initialize;
  table.api.PJRT_Plugin_Attributes = attributes;
  table.api.PJRT_Client_Create = client_create;
#ifdef PAX_STUB_NO_ERROR_MESSAGE
  table.api.PJRT_Error_Message = NULL;
#endif
  return &table.api;
}
