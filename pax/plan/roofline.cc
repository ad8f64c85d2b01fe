#include "pax/plan/roofline.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

namespace pax {
namespace {

/// Instructions that only name, pass on or make up values.
constexpr std::array<std::string_view, 9> kFree = {"parameter",         "constant",   "tuple",
                                                   "get-tuple-element", "bitcast",    "after-all",
                                                   "partition-id",      "replica-id", "opt-barrier"};

/// `["1","2"]` after `"lhs_contracting_dimensions":` of a library call's config.
std::vector<int64_t> contracted_of_call(std::string_view config) {
  static constexpr std::string_view kKey = "\"lhs_contracting_dimensions\":[";
  std::vector<int64_t> dims;
  const size_t at = config.find(kKey);
  if (at == std::string_view::npos) return dims;
  std::string_view rest = config.substr(at + kKey.size());
  rest = rest.substr(0, rest.find(']'));
  for (size_t i = 0; i < rest.size(); ++i) {
    if (rest[i] < '0' || rest[i] > '9') continue;
    int64_t dim = 0;
    const auto [end, error] = std::from_chars(rest.data() + i, rest.data() + rest.size(), dim);
    dims.push_back(dim);
    i = static_cast<size_t>(end - rest.data());
  }
  return dims;
}

const HloShape& first_array(const HloShape& shape) {
  return shape.tuple.empty() ? shape : first_array(shape.tuple.front());
}

double flops_of_dot(const HloComputation& computation, const HloInstruction& dot,
                    const std::vector<int64_t>& contracted) {
  if (dot.operands.empty() || !computation.by_id.contains(dot.operands[0])) return 0;
  const HloShape& lhs = computation.instruction(dot.operands[0]).shape;
  double flops = 2 * static_cast<double>(first_array(dot.shape).num_elements());
  for (const int64_t dim : contracted) {
    if (dim >= 0 && dim < static_cast<int64_t>(lhs.dims.size())) {
      flops *= static_cast<double>(lhs.dims[static_cast<size_t>(dim)]);
    }
  }
  return flops;
}

/// cuDNN's attention: two products of [queries, keys] by the head's width forward, five backward.
double flops_of_attention(const HloComputation& computation, const HloInstruction& call) {
  if (call.operands.size() < 2 || !computation.by_id.contains(call.operands[0])) return 0;
  const HloShape& q = computation.instruction(call.operands[0]).shape;
  if (q.dims.size() != 4) return 0;
  const bool backward = call.custom_call_target.ends_with("Backward");
  // q is [b, t, n, h] or [b, n, t, h]: all of its elements meet each of the other sequence's positions.
  const auto keys = static_cast<double>(std::max(q.dims[1], q.dims[2]));
  return (backward ? 5 : 2) * 2 * static_cast<double>(q.num_elements()) * keys;
}

double gpu_seconds(const HloModule& module, const HloComputation& computation, const HloInstruction& instruction,
                   const DeviceKind& device) {
  double bytes = static_cast<double>(instruction.shape.bytes());
  for (const int64_t id : instruction.operands) {
    if (computation.by_id.contains(id)) bytes += static_cast<double>(computation.instruction(id).shape.bytes());
  }
  // A slice reads, and an update in place writes, no more than the part that it is about.
  if (instruction.name.find("dynamic") != std::string_view::npos) {
    bytes = std::min(bytes, 2 * static_cast<double>(instruction.shape.bytes()));
  }
  const double flops = product_flops(module, computation, instruction);
  const double arithmetic = flops / (device.peak_flops * kProductEfficiency);
  return std::max(arithmetic, bytes / (device.memory_bandwidth * kMemoryEfficiency)) + kLaunchSeconds;
}

}  // namespace

double product_flops(const HloModule& module, const HloComputation& computation, const HloInstruction& instruction) {
  if (instruction.opcode == "dot") return flops_of_dot(computation, instruction, instruction.contracted_dims);
  if (instruction.custom_call_target.starts_with("__cublas")) {
    return flops_of_dot(computation, instruction, contracted_of_call(instruction.backend_config));
  }
  if (instruction.custom_call_target.starts_with("__cudnn$fmha")) return flops_of_attention(computation, instruction);
  double sum = 0;
  for (const int64_t id : instruction.called) {
    const HloComputation& called = module.computation(id);
    for (const HloInstruction& inner : called.instructions) sum += product_flops(module, called, inner);
  }
  return sum;
}

double instruction_seconds(const HloModule& module, const HloComputation& computation,
                           const HloInstruction& instruction, const Machine& machine) {
  if (std::ranges::find(kFree, instruction.opcode) != kFree.end()) return 0;
  if (machine.platform == "tpu") {
    const auto cycles = config_number(instruction.backend_config, "estimated_cycles");
    return static_cast<double>(cycles.value_or(0)) / machine.device.clock_hz;
  }
  if (machine.platform == "cuda") return gpu_seconds(module, computation, instruction, machine.device);
  return 0;
}

}  // namespace pax
