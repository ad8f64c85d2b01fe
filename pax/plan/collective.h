#pragma once

#include <optional>
#include <string>

#include "pax/plan/hlo.h"

namespace pax {

/// One instruction that moves data between devices.
struct Collective {
  std::string kind;            ///< `all-gather`, `all-reduce`, `reduce-scatter`, `all-to-all`, `collective-permute`
  int64_t bytes = 0;           ///< of the larger of a device's operand and result
  std::vector<int64_t> group;  ///< partitions that take part with the first one
};

/// The collective that `instruction` is or starts, itself or inside of the fusion or asynchronous computation it calls.
std::optional<Collective> find_collective(const HloModule& module, const HloComputation& computation,
                                          const HloInstruction& instruction);

/// Bytes that each device sends, as rings do it: all-gather and reduce-scatter (n-1)/n of the larger side, all-reduce
/// twice that, all-to-all (n-1)/n, permute all.
double bytes_sent(const Collective& collective);

/// The instruction begins something that a later `-done` waits for.
bool is_start(std::string_view opcode);
bool is_done(std::string_view opcode);

}  // namespace pax
