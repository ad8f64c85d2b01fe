#include "pax/pjrt/plugin.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdlib>

#include "pax/pjrt/api.h"

namespace pax {
namespace {

/// Every plugin has the functions up to the events; without them not even an error can be read.
constexpr size_t kLeastStructSize = offsetof(PJRT_Api, PJRT_Client_Create);

PluginError::Code to_code(PJRT_Error_Code code) {
  switch (code) {
    case PJRT_Error_Code_UNKNOWN:
      return PluginError::Code::kUnknown;
    case PJRT_Error_Code_INVALID_ARGUMENT:
      return PluginError::Code::kInvalidArgument;
    case PJRT_Error_Code_NOT_FOUND:
      return PluginError::Code::kNotFound;
    case PJRT_Error_Code_RESOURCE_EXHAUSTED:
      return PluginError::Code::kResourceExhausted;
    case PJRT_Error_Code_UNIMPLEMENTED:
      return PluginError::Code::kUnimplemented;
    default:
      return PluginError::Code::kOther;
  }
}

/// Messages of compilers have many lines; ours have one.
std::string one_line(std::string_view text) {
  std::string line;
  for (const char c : text) {
    if (c != '\n') {
      line += c;
    } else if (!line.empty() && !line.ends_with("; ")) {
      line += "; ";
    }
  }
  while (line.ends_with("; ")) line.resize(line.size() - 2);
  return line;
}

/// XLA's extension of type PJRT_Extension_Type_FFI, as plugins of every version lay it out.
struct FfiExtension {
  PJRT_Extension_Base base;
  void* register_type_id;
  void* add_user_data;
  struct RegisterArgs {
    size_t struct_size;
    const char* name;
    size_t name_size;
    void* handler;
    const char* platform;
    size_t platform_size;
    uint32_t traits;
  };
  PJRT_Error* (*register_handler)(RegisterArgs*);
};
constexpr size_t kRegisterArgsSize = offsetof(FfiExtension::RegisterArgs, traits) + sizeof(uint32_t);

}  // namespace

void check(const Plugin& plugin, PJRT_Error* error, std::string_view function) {
  if (error == nullptr) return;
  const PJRT_Api* api = plugin.api();
  PJRT_Error_Message_Args message{.struct_size = PJRT_Error_Message_Args_STRUCT_SIZE, .error = error};
  api->PJRT_Error_Message(&message);
  PJRT_Error_GetCode_Args code{.struct_size = PJRT_Error_GetCode_Args_STRUCT_SIZE, .error = error};
  PJRT_Error* code_error = api->PJRT_Error_GetCode(&code);
  const std::string text = fmt::format("{}: {}: {}", plugin.described(), function,
                                       one_line(std::string_view(message.message, message.message_size)));
  for (PJRT_Error* owned : {error, code_error}) {
    if (owned == nullptr) continue;
    PJRT_Error_Destroy_Args destroy{.struct_size = PJRT_Error_Destroy_Args_STRUCT_SIZE, .error = owned};
    api->PJRT_Error_Destroy(&destroy);
  }
  throw PluginError(code_error == nullptr ? to_code(code.code) : PluginError::Code::kUnknown, text);
}

void fail_missing(const Plugin& plugin, std::string_view function, bool too_old) {
  throw PluginError(PluginError::Code::kUnimplemented,
                    fmt::format("{}: {} {}; use a newer plugin", plugin.described(), function,
                                too_old ? "is newer than this plugin" : "is left out by this plugin"));
}

std::shared_ptr<const Plugin> Plugin::load(const std::filesystem::path& path) {
  // dlopen would look for a bare file name among the system's libraries.
  const std::filesystem::path absolute = std::filesystem::absolute(path);
  if (!std::filesystem::exists(absolute)) fail<RuntimeError>("{}: no such plugin", path.string());
  // XLA logs what it also returns as errors, and much else. Whoever wants it sets the variable to 0.
  ::setenv("TF_CPP_MIN_LOG_LEVEL", "3", 0);
  // Never closed: plugins keep threads that run their code until the process ends.
  void* library = ::dlopen(absolute.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* reason = ::dlerror();
    fail<RuntimeError>("{}: cannot load the plugin: {}", path.string(), reason == nullptr ? "unknown error" : reason);
  }
  auto* entry = reinterpret_cast<const PJRT_Api* (*)()>(::dlsym(library, "GetPjrtApi"));
  if (entry == nullptr) fail<RuntimeError>("{}: not a PJRT plugin: it has no entry point GetPjrtApi", path.string());
  const PJRT_Api* api = entry();
  if (api == nullptr) fail<RuntimeError>("{}: GetPjrtApi gave no function table", path.string());

  std::shared_ptr<Plugin> plugin(new Plugin(path, api));
  if (api->pjrt_api_version.major_version != PJRT_API_MAJOR) {
    fail<RuntimeError>("{}: the major versions differ; use a plugin with PJRT {}.x", plugin->described(),
                       PJRT_API_MAJOR);
  }
  if (api->struct_size < kLeastStructSize) {
    fail<RuntimeError>("{}: its function table has {} bytes, at least {} are needed; use a newer plugin",
                       plugin->described(), api->struct_size, kLeastStructSize);
  }
  if (api->PJRT_Error_Destroy == nullptr || api->PJRT_Error_Message == nullptr || api->PJRT_Error_GetCode == nullptr) {
    fail<RuntimeError>("{}: it cannot report errors; use a newer plugin", plugin->described());
  }
  PJRT_Plugin_Initialize_Args args{.struct_size = PJRT_Plugin_Initialize_Args_STRUCT_SIZE};
  call(*plugin, &PJRT_Api::PJRT_Plugin_Initialize, "PJRT_Plugin_Initialize", args);
  return plugin;
}

PluginVersion Plugin::version() const {
  return {api_->pjrt_api_version.major_version, api_->pjrt_api_version.minor_version};
}

std::string Plugin::described() const {
  return fmt::format("{} (PJRT {}.{}; this program: {}.{})", path_.string(), version().major, version().minor,
                     PJRT_API_MAJOR, PJRT_API_MINOR);
}

NamedValues Plugin::attributes() const {
  PJRT_Plugin_Attributes_Args args{.struct_size = PJRT_Plugin_Attributes_Args_STRUCT_SIZE};
  call(*this, &PJRT_Api::PJRT_Plugin_Attributes, "PJRT_Plugin_Attributes", args);
  return from_named_values(args.attributes, args.num_attributes);
}

std::string Plugin::identity() const {
  const std::filesystem::path real = std::filesystem::canonical(path_);
  const auto time = std::filesystem::last_write_time(real).time_since_epoch();
  return fmt::format("{} {}.{} {} bytes {}", real.string(), version().major, version().minor,
                     std::filesystem::file_size(real),
                     std::chrono::duration_cast<std::chrono::nanoseconds>(time).count());
}

void Plugin::register_ffi_handler(std::string_view name, void* handler, std::string_view platform) const {
  const PJRT_Extension_Base* extension = api_->extension_start;
  while (extension != nullptr && extension->type != PJRT_Extension_Type_FFI) extension = extension->next;
  if (extension == nullptr) fail_missing(*this, "the FFI extension", false);
  const auto* ffi = reinterpret_cast<const FfiExtension*>(extension);
  if (extension->struct_size < sizeof(FfiExtension) || ffi->register_handler == nullptr) {
    fail_missing(*this, "registration of FFI handlers", true);
  }
  FfiExtension::RegisterArgs args{.struct_size = kRegisterArgsSize,
                                  .name = name.data(),
                                  .name_size = name.size(),
                                  .handler = handler,
                                  .platform = platform.data(),
                                  .platform_size = platform.size(),
                                  .traits = 0};
  check(*this, ffi->register_handler(&args), fmt::format("registering FFI handler {}", name));
}

}  // namespace pax
