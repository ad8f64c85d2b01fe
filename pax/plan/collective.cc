#include "pax/plan/collective.h"

#include <algorithm>
#include <array>

namespace pax {
namespace {

constexpr std::array<std::string_view, 6> kKinds = {"all-gather", "all-reduce",         "reduce-scatter",
                                                    "all-to-all", "collective-permute", "ragged-all-to-all"};

std::optional<std::string_view> kind_of(std::string_view opcode) {
  if (is_start(opcode)) opcode.remove_suffix(std::string_view("-start").size());
  const auto* at = std::ranges::find(kKinds, opcode);
  return at == kKinds.end() ? std::nullopt : std::optional(*at);
}

/// What an asynchronous start moves is one of the halves of its result (operand, result, …).
int64_t moved_bytes(const HloComputation& computation, const HloInstruction& instruction) {
  int64_t operands = 0;
  for (const int64_t id : instruction.operands) {
    if (computation.by_id.contains(id)) operands += computation.instruction(id).shape.bytes();
  }
  int64_t result = instruction.shape.bytes();
  if (is_start(instruction.opcode) && instruction.shape.tuple.size() >= 2) result = instruction.shape.tuple[1].bytes();
  return std::max(operands, result);
}

Collective collective_of(const HloComputation& computation, const HloInstruction& instruction, std::string_view kind) {
  Collective out{.kind = std::string(kind), .bytes = moved_bytes(computation, instruction)};
  if (!instruction.groups.empty()) out.group = instruction.groups.front();
  for (const auto& [source, target] : instruction.source_target_pairs) {
    if (source == target) continue;
    out.group = {source, target};
    break;
  }
  return out;
}

}  // namespace

bool is_start(std::string_view opcode) { return opcode.ends_with("-start"); }
bool is_done(std::string_view opcode) { return opcode.ends_with("-done"); }

std::optional<Collective> find_collective(const HloModule& module, const HloComputation& computation,
                                          const HloInstruction& instruction) {
  if (const auto kind = kind_of(instruction.opcode)) return collective_of(computation, instruction, *kind);
  if (instruction.opcode != "fusion" && instruction.opcode != "async-start") return std::nullopt;
  for (const int64_t id : instruction.called) {
    const HloComputation& called = module.computation(id);
    for (const HloInstruction& inner : called.instructions) {
      auto found = find_collective(module, called, inner);
      if (!found) continue;
      // XLA keeps a reduce-scatter as an all-reduce and a slice in one fusion of this name.
      if (called.name.starts_with("all-reduce-scatter")) found->kind = "reduce-scatter";
      return found;
    }
  }
  return std::nullopt;
}

double bytes_sent(const Collective& collective) {
  const auto bytes = static_cast<double>(collective.bytes);
  if (collective.kind == "collective-permute") return bytes;
  const auto members = static_cast<double>(std::max<size_t>(collective.group.size(), 2));
  const double once = bytes * (members - 1) / members;
  return collective.kind == "all-reduce" ? 2 * once : once;
}

}  // namespace pax
