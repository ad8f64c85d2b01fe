#include "pax/pjrt/client.h"

#include <cstring>

#include "pax/pjrt/api.h"

namespace pax {
namespace {

Device describe(const Plugin& plugin, PJRT_Device* handle) {
  PJRT_Device_GetDescription_Args get{.struct_size = PJRT_Device_GetDescription_Args_STRUCT_SIZE, .device = handle};
  call(plugin, &PJRT_Api::PJRT_Device_GetDescription, "PJRT_Device_GetDescription", get);
  PJRT_DeviceDescription* description = get.device_description;

  PJRT_DeviceDescription_Id_Args id{.struct_size = PJRT_DeviceDescription_Id_Args_STRUCT_SIZE,
                                    .device_description = description};
  call(plugin, &PJRT_Api::PJRT_DeviceDescription_Id, "PJRT_DeviceDescription_Id", id);
  PJRT_DeviceDescription_ProcessIndex_Args process{.struct_size = PJRT_DeviceDescription_ProcessIndex_Args_STRUCT_SIZE,
                                                   .device_description = description};
  call(plugin, &PJRT_Api::PJRT_DeviceDescription_ProcessIndex, "PJRT_DeviceDescription_ProcessIndex", process);
  PJRT_DeviceDescription_Kind_Args kind{.struct_size = PJRT_DeviceDescription_Kind_Args_STRUCT_SIZE,
                                        .device_description = description};
  call(plugin, &PJRT_Api::PJRT_DeviceDescription_Kind, "PJRT_DeviceDescription_Kind", kind);
  PJRT_DeviceDescription_Attributes_Args attributes{.struct_size = PJRT_DeviceDescription_Attributes_Args_STRUCT_SIZE,
                                                    .device_description = description};
  call(plugin, &PJRT_Api::PJRT_DeviceDescription_Attributes, "PJRT_DeviceDescription_Attributes", attributes);

  return {.id = id.id,
          .process_index = process.process_index,
          .kind = std::string(kind.device_kind, kind.device_kind_size),
          .attributes = from_named_values(attributes.attributes, attributes.num_attributes),
          .handle = handle};
}

/// Gives `value` to the plugin in memory that it frees by `delete_value`.
template <class Args>
void give(Args* args, const std::string& value) {
  args->value = new char[value.size()];
  std::memcpy(args->value, value.data(), value.size());
  args->value_size = value.size();
  args->value_deleter_callback = [](char* owned) { delete[] owned; };
}

PJRT_Error* report(PJRT_CallbackError* make_error, PJRT_Error_Code code, std::string_view message) {
  return (*make_error)(code, message.data(), message.size());
}

/// Runs `action` of a callback: nothing may be thrown through the plugin.
template <class Action>
PJRT_Error* guarded(PJRT_CallbackError* make_error, Action action) {
  try {
    return action();
  } catch (const std::exception& error) {
    return report(make_error, PJRT_Error_Code_UNAVAILABLE, error.what());
  }
}

PJRT_Error* store_get(PJRT_KeyValueGetCallback_Args* args) {
  return guarded(args->callback_error, [&]() -> PJRT_Error* {
    auto* store = static_cast<KeyValueStore*>(args->user_arg);
    const std::string_view key(args->key, args->key_size);
    const auto value = store->get(key, std::chrono::milliseconds(args->timeout_in_ms));
    if (!value) {
      return report(args->callback_error, PJRT_Error_Code_DEADLINE_EXCEEDED,
                    fmt::format("no process has put key {} within {} ms", key, args->timeout_in_ms));
    }
    give(args, *value);
    return nullptr;
  });
}

PJRT_Error* store_try_get(PJRT_KeyValueTryGetCallback_Args* args) {
  return guarded(args->callback_error, [&]() -> PJRT_Error* {
    auto* store = static_cast<KeyValueStore*>(args->user_arg);
    const std::string_view key(args->key, args->key_size);
    const auto value = store->get(key, std::chrono::milliseconds(0));
    if (!value) return report(args->callback_error, PJRT_Error_Code_NOT_FOUND, fmt::format("no key {}", key));
    give(args, *value);
    return nullptr;
  });
}

PJRT_Error* store_put(PJRT_KeyValuePutCallback_Args* args) {
  return guarded(args->callback_error, [&]() -> PJRT_Error* {
    auto* store = static_cast<KeyValueStore*>(args->user_arg);
    store->put(std::string_view(args->key, args->key_size), std::string_view(args->value, args->value_size));
    return nullptr;
  });
}

/// What a transfer still needs while it runs; freed by its completion.
struct Transfer {
  std::shared_ptr<const Plugin> plugin;
  HostArray array;
  PJRT_Event* done;
};

void finish_transfer(PJRT_Error* error, void* user_arg) {
  const std::unique_ptr<Transfer> transfer(static_cast<Transfer*>(user_arg));
  // Whoever uses the buffer is told of a failed transfer; here only the memory matters.
  if (error != nullptr) {
    PJRT_Error_Destroy_Args destroy{.struct_size = PJRT_Error_Destroy_Args_STRUCT_SIZE, .error = error};
    transfer->plugin->api()->PJRT_Error_Destroy(&destroy);
  }
  PJRT_Event_Destroy_Args destroy{.struct_size = PJRT_Event_Destroy_Args_STRUCT_SIZE, .event = transfer->done};
  call_quietly(*transfer->plugin, &PJRT_Api::PJRT_Event_Destroy, destroy);
}

}  // namespace

Client::Client(std::shared_ptr<const Plugin> plugin, std::shared_ptr<KeyValueStore> store)
    : plugin_(std::move(plugin)), store_(std::move(store)) {}

std::shared_ptr<const Client> Client::create(std::shared_ptr<const Plugin> plugin, const NamedValues& options,
                                             std::shared_ptr<KeyValueStore> store) {
  std::shared_ptr<Client> client(new Client(std::move(plugin), std::move(store)));
  const std::vector<PJRT_NamedValue> values = to_named_values(options);
  PJRT_Client_Create_Args args{.struct_size = PJRT_Client_Create_Args_STRUCT_SIZE,
                               .create_options = values.data(),
                               .num_options = values.size()};
  if (client->store_ != nullptr) {
    args.kv_get_callback = store_get;
    args.kv_put_callback = store_put;
    args.kv_try_get_callback = store_try_get;
    args.kv_get_user_arg = args.kv_put_user_arg = args.kv_try_get_user_arg = client->store_.get();
  }
  const Plugin& loaded = *client->plugin_;
  call(loaded, &PJRT_Api::PJRT_Client_Create, "PJRT_Client_Create", args);
  client->client_ = args.client;

  PJRT_Client_Devices_Args all{.struct_size = PJRT_Client_Devices_Args_STRUCT_SIZE, .client = args.client};
  call(loaded, &PJRT_Api::PJRT_Client_Devices, "PJRT_Client_Devices", all);
  for (size_t i = 0; i < all.num_devices; ++i) client->devices_.push_back(describe(loaded, all.devices[i]));
  PJRT_Client_AddressableDevices_Args local{.struct_size = PJRT_Client_AddressableDevices_Args_STRUCT_SIZE,
                                            .client = args.client};
  call(loaded, &PJRT_Api::PJRT_Client_AddressableDevices, "PJRT_Client_AddressableDevices", local);
  for (size_t i = 0; i < local.num_addressable_devices; ++i) {
    client->local_devices_.push_back(describe(loaded, local.addressable_devices[i]));
  }
  return client;
}

Client::~Client() {
  if (client_ == nullptr) return;
  PJRT_Client_Destroy_Args args{.struct_size = PJRT_Client_Destroy_Args_STRUCT_SIZE, .client = client_};
  call_quietly(*plugin_, &PJRT_Api::PJRT_Client_Destroy, args);
}

std::string Client::platform_name() const {
  PJRT_Client_PlatformName_Args args{.struct_size = PJRT_Client_PlatformName_Args_STRUCT_SIZE, .client = client_};
  call(*plugin_, &PJRT_Api::PJRT_Client_PlatformName, "PJRT_Client_PlatformName", args);
  return {args.platform_name, args.platform_name_size};
}

std::string Client::platform_version() const {
  PJRT_Client_PlatformVersion_Args args{.struct_size = PJRT_Client_PlatformVersion_Args_STRUCT_SIZE, .client = client_};
  call(*plugin_, &PJRT_Api::PJRT_Client_PlatformVersion, "PJRT_Client_PlatformVersion", args);
  return {args.platform_version, args.platform_version_size};
}

int Client::process_index() const {
  PJRT_Client_ProcessIndex_Args args{.struct_size = PJRT_Client_ProcessIndex_Args_STRUCT_SIZE, .client = client_};
  call(*plugin_, &PJRT_Api::PJRT_Client_ProcessIndex, "PJRT_Client_ProcessIndex", args);
  return args.process_index;
}

const Device& Client::local_device(int64_t index) const {
  if (index < 0 || index >= static_cast<int64_t>(local_devices_.size())) {
    fail<RuntimeError>("{}: device {} asked for, this process has {}", plugin_->path().string(), index,
                       local_devices_.size());
  }
  return local_devices_[static_cast<size_t>(index)];
}

int64_t Client::local_index(const PJRT_Device* handle) const {
  for (size_t i = 0; i < local_devices_.size(); ++i) {
    if (local_devices_[i].handle == handle) return static_cast<int64_t>(i);
  }
  fail<RuntimeError>("{}: a device that is not of this process", plugin_->path().string());
}

std::optional<DeviceMemory> Client::memory(int64_t device_index) const {
  PJRT_Device_MemoryStats_Args args{.struct_size = PJRT_Device_MemoryStats_Args_STRUCT_SIZE,
                                    .device = local_device(device_index).handle};
  try {
    call(*plugin_, &PJRT_Api::PJRT_Device_MemoryStats, "PJRT_Device_MemoryStats", args);
  } catch (const PluginError& error) {
    if (error.code() == PluginError::Code::kUnimplemented) return std::nullopt;
    throw;
  }
  DeviceMemory memory{.in_use = args.bytes_in_use};
  if (args.peak_bytes_in_use_is_set) memory.peak = args.peak_bytes_in_use;
  if (args.bytes_limit_is_set) memory.limit = args.bytes_limit;
  return memory;
}

Buffer Client::to_device(const HostArray& array, int64_t device_index, HostTransfer transfer) const {
  const std::span<const int64_t> dims = array.shape().dims();
  PJRT_Client_BufferFromHostBuffer_Args args{
      .struct_size = PJRT_Client_BufferFromHostBuffer_Args_STRUCT_SIZE,
      .client = client_,
      .data = array.bytes().data(),
      .type = to_buffer_type(array.dtype()),
      .dims = dims.data(),
      .num_dims = dims.size(),
      .host_buffer_semantics = transfer == HostTransfer::kZeroCopy
                                   ? PJRT_HostBufferSemantics_kImmutableZeroCopy
                                   : PJRT_HostBufferSemantics_kImmutableUntilTransferCompletes,
      .device = local_device(device_index).handle};
  call(*plugin_, &PJRT_Api::PJRT_Client_BufferFromHostBuffer, "PJRT_Client_BufferFromHostBuffer", args);
  Buffer buffer(shared_from_this(), args.buffer);

  auto pending = std::make_unique<Transfer>(Transfer{plugin_, array, args.done_with_host_buffer});
  PJRT_Event_OnReady_Args on_ready{.struct_size = PJRT_Event_OnReady_Args_STRUCT_SIZE,
                                   .event = args.done_with_host_buffer,
                                   .callback = finish_transfer,
                                   .user_arg = pending.get()};
  call(*plugin_, &PJRT_Api::PJRT_Event_OnReady, "PJRT_Event_OnReady", on_ready);
  (void)pending.release();
  return buffer;
}

LoadedExecutable Client::compile(std::string_view stablehlo, const CompileOptions& options) const {
  const std::string option_bytes = serialize(options);
  std::string text(stablehlo);
  static constexpr std::string_view kFormat = "mlir";
  PJRT_Program program{.struct_size = PJRT_Program_STRUCT_SIZE,
                       .code = text.data(),
                       .code_size = text.size(),
                       .format = kFormat.data(),
                       .format_size = kFormat.size()};
  PJRT_Client_Compile_Args args{.struct_size = PJRT_Client_Compile_Args_STRUCT_SIZE,
                                .client = client_,
                                .program = &program,
                                .compile_options = option_bytes.data(),
                                .compile_options_size = option_bytes.size()};
  call(*plugin_, &PJRT_Api::PJRT_Client_Compile, "PJRT_Client_Compile", args);
  return LoadedExecutable(shared_from_this(), args.executable);
}

LoadedExecutable Client::load(std::string_view serialized) const {
  PJRT_Executable_DeserializeAndLoad_Args args{.struct_size = PJRT_Executable_DeserializeAndLoad_Args_STRUCT_SIZE,
                                               .client = client_,
                                               .serialized_executable = serialized.data(),
                                               .serialized_executable_size = serialized.size()};
  call(*plugin_, &PJRT_Api::PJRT_Executable_DeserializeAndLoad, "PJRT_Executable_DeserializeAndLoad", args);
  return LoadedExecutable(shared_from_this(), args.loaded_executable);
}

}  // namespace pax
