#include "pax/pjrt/topology.h"

#include "pax/pjrt/api.h"

namespace pax {

Topology Topology::create(std::shared_ptr<const Plugin> plugin, std::string_view name, const NamedValues& options) {
  const std::vector<PJRT_NamedValue> values = to_named_values(options);
  PJRT_TopologyDescription_Create_Args args{.struct_size = PJRT_TopologyDescription_Create_Args_STRUCT_SIZE,
                                            .topology_name = name.data(),
                                            .topology_name_size = name.size(),
                                            .create_options = values.data(),
                                            .num_options = values.size()};
  call(*plugin, &PJRT_Api::PJRT_TopologyDescription_Create, "PJRT_TopologyDescription_Create", args);
  std::shared_ptr<PJRT_TopologyDescription> topology(args.topology, [plugin](PJRT_TopologyDescription* owned) {
    PJRT_TopologyDescription_Destroy_Args destroy{.struct_size = PJRT_TopologyDescription_Destroy_Args_STRUCT_SIZE,
                                                  .topology = owned};
    call_quietly(*plugin, &PJRT_Api::PJRT_TopologyDescription_Destroy, destroy);
  });
  return Topology(std::move(plugin), std::move(topology));
}

std::string Topology::platform_name() const {
  PJRT_TopologyDescription_PlatformName_Args args{.struct_size = PJRT_TopologyDescription_PlatformName_Args_STRUCT_SIZE,
                                                  .topology = topology_.get()};
  call(*plugin_, &PJRT_Api::PJRT_TopologyDescription_PlatformName, "PJRT_TopologyDescription_PlatformName", args);
  return {args.platform_name, args.platform_name_size};
}

std::string Topology::platform_version() const {
  PJRT_TopologyDescription_PlatformVersion_Args args{
      .struct_size = PJRT_TopologyDescription_PlatformVersion_Args_STRUCT_SIZE, .topology = topology_.get()};
  call(*plugin_, &PJRT_Api::PJRT_TopologyDescription_PlatformVersion, "PJRT_TopologyDescription_PlatformVersion", args);
  return {args.platform_version, args.platform_version_size};
}

std::vector<std::string> Topology::device_kinds() const {
  PJRT_TopologyDescription_GetDeviceDescriptions_Args args{
      .struct_size = PJRT_TopologyDescription_GetDeviceDescriptions_Args_STRUCT_SIZE, .topology = topology_.get()};
  call(*plugin_, &PJRT_Api::PJRT_TopologyDescription_GetDeviceDescriptions,
       "PJRT_TopologyDescription_GetDeviceDescriptions", args);
  std::vector<std::string> kinds;
  for (size_t i = 0; i < args.num_descriptions; ++i) {
    PJRT_DeviceDescription_Kind_Args kind{.struct_size = PJRT_DeviceDescription_Kind_Args_STRUCT_SIZE,
                                          .device_description = args.descriptions[i]};
    call(*plugin_, &PJRT_Api::PJRT_DeviceDescription_Kind, "PJRT_DeviceDescription_Kind", kind);
    kinds.emplace_back(kind.device_kind, kind.device_kind_size);
  }
  return kinds;
}

Executable Topology::compile(std::string_view stablehlo, const CompileOptions& options) const {
  const std::string option_bytes = serialize(options);
  std::string text(stablehlo);
  static constexpr std::string_view kFormat = "mlir";
  PJRT_Program program{.struct_size = PJRT_Program_STRUCT_SIZE,
                       .code = text.data(),
                       .code_size = text.size(),
                       .format = kFormat.data(),
                       .format_size = kFormat.size()};
  PJRT_Compile_Args args{.struct_size = PJRT_Compile_Args_STRUCT_SIZE,
                         .topology = topology_.get(),
                         .program = &program,
                         .compile_options = option_bytes.data(),
                         .compile_options_size = option_bytes.size()};
  call(*plugin_, &PJRT_Api::PJRT_Compile, "PJRT_Compile", args);
  return Executable(plugin_, args.executable);
}

}  // namespace pax
