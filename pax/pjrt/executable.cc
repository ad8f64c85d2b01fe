#include "pax/pjrt/executable.h"

#include "pax/pjrt/api.h"

namespace pax {

Executable::Executable(std::shared_ptr<const Plugin> plugin, PJRT_Executable* executable,
                       std::shared_ptr<const void> part_of)
    : plugin_(plugin), executable_(executable, [plugin, part_of](PJRT_Executable* owned) {
        PJRT_Executable_Destroy_Args args{.struct_size = PJRT_Executable_Destroy_Args_STRUCT_SIZE, .executable = owned};
        call_quietly(*plugin, &PJRT_Api::PJRT_Executable_Destroy, args);
      }) {}

std::string Executable::name() const {
  PJRT_Executable_Name_Args args{.struct_size = PJRT_Executable_Name_Args_STRUCT_SIZE, .executable = executable_.get()};
  call(*plugin_, &PJRT_Api::PJRT_Executable_Name, "PJRT_Executable_Name", args);
  return {args.executable_name, args.executable_name_size};
}

size_t Executable::num_outputs() const {
  PJRT_Executable_NumOutputs_Args args{.struct_size = PJRT_Executable_NumOutputs_Args_STRUCT_SIZE,
                                       .executable = executable_.get()};
  call(*plugin_, &PJRT_Api::PJRT_Executable_NumOutputs, "PJRT_Executable_NumOutputs", args);
  return args.num_outputs;
}

std::vector<TensorType> Executable::output_types() const {
  PJRT_Executable_OutputElementTypes_Args types{.struct_size = PJRT_Executable_OutputElementTypes_Args_STRUCT_SIZE,
                                                .executable = executable_.get()};
  call(*plugin_, &PJRT_Api::PJRT_Executable_OutputElementTypes, "PJRT_Executable_OutputElementTypes", types);
  PJRT_Executable_OutputDimensions_Args dims{.struct_size = PJRT_Executable_OutputDimensions_Args_STRUCT_SIZE,
                                             .executable = executable_.get()};
  call(*plugin_, &PJRT_Api::PJRT_Executable_OutputDimensions, "PJRT_Executable_OutputDimensions", dims);
  std::vector<TensorType> out;
  const int64_t* next = dims.dims;
  for (size_t i = 0; i < types.num_output_types; ++i) {
    out.push_back({from_buffer_type(types.output_types[i]), Shape(std::span<const int64_t>(next, dims.dim_sizes[i]))});
    next += dims.dim_sizes[i];
  }
  return out;
}

MemoryStats Executable::memory_stats() const {
  PJRT_Executable_GetCompiledMemoryStats_Args args{
      .struct_size = PJRT_Executable_GetCompiledMemoryStats_Args_STRUCT_SIZE, .executable = executable_.get()};
  call(*plugin_, &PJRT_Api::PJRT_Executable_GetCompiledMemoryStats, "PJRT_Executable_GetCompiledMemoryStats", args);
  return {.code = args.generated_code_size_in_bytes,
          .arguments = args.argument_size_in_bytes,
          .outputs = args.output_size_in_bytes,
          .aliased = args.alias_size_in_bytes,
          .temporaries = args.temp_size_in_bytes,
          .peak = args.peak_memory_in_bytes};
}

std::optional<std::map<std::string, double>> Executable::cost_analysis() const {
  PJRT_Executable_GetCostAnalysis_Args args{.struct_size = PJRT_Executable_GetCostAnalysis_Args_STRUCT_SIZE,
                                            .executable = executable_.get()};
  try {
    call(*plugin_, &PJRT_Api::PJRT_Executable_GetCostAnalysis, "PJRT_Executable_GetCostAnalysis", args);
  } catch (const PluginError& error) {
    if (error.code() == PluginError::Code::kUnimplemented) return std::nullopt;
    throw;
  }
  std::map<std::string, double> costs;
  for (const auto& [name, value] : from_named_values(args.properties, args.num_properties)) {
    if (const auto* real = std::get_if<float>(&value)) costs[name] = *real;
    if (const auto* number = std::get_if<int64_t>(&value)) costs[name] = static_cast<double>(*number);
  }
  return costs;
}

OptimizedProgram Executable::optimized_program() const {
  PJRT_Program program{.struct_size = PJRT_Program_STRUCT_SIZE};
  PJRT_Executable_OptimizedProgram_Args args{.struct_size = PJRT_Executable_OptimizedProgram_Args_STRUCT_SIZE,
                                             .executable = executable_.get(),
                                             .program = &program};
  // The first call tells the size, the second fills the bytes in.
  call(*plugin_, &PJRT_Api::PJRT_Executable_OptimizedProgram, "PJRT_Executable_OptimizedProgram", args);
  std::string bytes(program.code_size, '\0');
  program.code = bytes.data();
  call(*plugin_, &PJRT_Api::PJRT_Executable_OptimizedProgram, "PJRT_Executable_OptimizedProgram", args);
  return {.format = std::string(program.format, program.format_size), .bytes = std::move(bytes)};
}

std::string Executable::serialize() const {
  PJRT_Executable_Serialize_Args args{.struct_size = PJRT_Executable_Serialize_Args_STRUCT_SIZE,
                                      .executable = executable_.get()};
  call(*plugin_, &PJRT_Api::PJRT_Executable_Serialize, "PJRT_Executable_Serialize", args);
  std::string bytes(args.serialized_bytes, args.serialized_bytes_size);
  args.serialized_executable_deleter(args.serialized_executable);
  return bytes;
}

}  // namespace pax
