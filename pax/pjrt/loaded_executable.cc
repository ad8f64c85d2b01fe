#include "pax/pjrt/api.h"
#include "pax/pjrt/client.h"
#include "pax/pjrt/executable.h"

namespace pax {
namespace {

PJRT_Executable* get_executable(const Plugin& plugin, PJRT_LoadedExecutable* loaded) {
  PJRT_LoadedExecutable_GetExecutable_Args args{.struct_size = PJRT_LoadedExecutable_GetExecutable_Args_STRUCT_SIZE,
                                                .loaded_executable = loaded};
  call(plugin, &PJRT_Api::PJRT_LoadedExecutable_GetExecutable, "PJRT_LoadedExecutable_GetExecutable", args);
  return args.executable;
}

}  // namespace

LoadedExecutable::LoadedExecutable(std::shared_ptr<const Client> client, PJRT_LoadedExecutable* executable)
    : client_(client),
      loaded_(executable,
              [client](PJRT_LoadedExecutable* owned) {
                PJRT_LoadedExecutable_Destroy_Args args{.struct_size = PJRT_LoadedExecutable_Destroy_Args_STRUCT_SIZE,
                                                        .executable = owned};
                call_quietly(*client->plugin(), &PJRT_Api::PJRT_LoadedExecutable_Destroy, args);
              }),
      executable_(client->plugin(), get_executable(*client->plugin(), executable), loaded_),
      num_outputs_(executable_.num_outputs()) {
  PJRT_LoadedExecutable_AddressableDevices_Args args{
      .struct_size = PJRT_LoadedExecutable_AddressableDevices_Args_STRUCT_SIZE, .executable = executable};
  call(*client_->plugin(), &PJRT_Api::PJRT_LoadedExecutable_AddressableDevices,
       "PJRT_LoadedExecutable_AddressableDevices", args);
  for (size_t i = 0; i < args.num_addressable_devices; ++i) {
    device_indices_.push_back(client_->local_index(args.addressable_devices[i]));
  }
}

std::vector<BufferList> LoadedExecutable::execute(std::span<const BufferList> arguments,
                                                  const ExecuteOptions& options) const {
  if (arguments.size() != device_indices_.size()) {
    fail<RuntimeError>("{}: arguments for {} devices given, the program runs on {}", executable_.name(),
                       arguments.size(), device_indices_.size());
  }
  const size_t devices = arguments.size();
  const size_t num_args = arguments.empty() ? 0 : arguments[0].size();
  std::vector<std::vector<PJRT_Buffer*>> inputs(devices);
  std::vector<std::vector<PJRT_Buffer*>> outputs(devices, std::vector<PJRT_Buffer*>(num_outputs_));
  std::vector<PJRT_Buffer* const*> input_lists;
  std::vector<PJRT_Buffer**> output_lists;
  for (size_t d = 0; d < devices; ++d) {
    if (arguments[d].size() != num_args) {
      fail<RuntimeError>("{}: {} arguments on device 0 but {} on device {}", executable_.name(), num_args,
                         arguments[d].size(), d);
    }
    inputs[d].reserve(num_args);
    for (const Buffer& buffer : arguments[d]) inputs[d].push_back(buffer.get());
    input_lists.push_back(inputs[d].data());
    output_lists.push_back(outputs[d].data());
  }

  PJRT_ExecuteOptions execute_options{.struct_size = PJRT_ExecuteOptions_STRUCT_SIZE,
                                      .launch_id = options.launch_id,
                                      .non_donatable_input_indices = options.keep.data(),
                                      .num_non_donatable_input_indices = options.keep.size()};
  PJRT_LoadedExecutable_Execute_Args args{.struct_size = PJRT_LoadedExecutable_Execute_Args_STRUCT_SIZE,
                                          .executable = loaded_.get(),
                                          .options = &execute_options,
                                          .argument_lists = input_lists.data(),
                                          .num_devices = devices,
                                          .num_args = num_args,
                                          .output_lists = output_lists.data()};
  call(*client_->plugin(), &PJRT_Api::PJRT_LoadedExecutable_Execute, "PJRT_LoadedExecutable_Execute", args);

  std::vector<BufferList> results(devices);
  for (size_t d = 0; d < devices; ++d) {
    results[d].reserve(num_outputs_);
    for (PJRT_Buffer* buffer : outputs[d]) results[d].emplace_back(client_, buffer);
  }
  return results;
}

BufferList LoadedExecutable::execute(const BufferList& arguments, const ExecuteOptions& options) const {
  return std::move(execute(std::span(&arguments, 1), options)[0]);
}

}  // namespace pax
