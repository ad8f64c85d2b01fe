#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace pax {

/// A type in a compiled program: an array (element type as XLA numbers it, dims), or a tuple.
struct HloShape {
  int64_t element_type = 0;
  std::vector<int64_t> dims;
  std::vector<HloShape> tuple;

  int64_t num_elements() const;
  /// Of the array, or of all in the tuple, without padding.
  int64_t bytes() const;
};

struct HloInstruction {
  int64_t id = 0;
  std::string_view name;
  std::string_view opcode;
  HloShape shape;
  std::vector<int64_t> operands;  ///< ids
  std::vector<int64_t> called;    ///< ids of computations; a loop's are body, condition
  std::string_view op_name;       ///< layer path, as the traced program gave it
  std::string_view backend_config;
  std::string_view custom_call_target;
  std::vector<int64_t> contracted_dims;      ///< of a dot's first operand
  std::vector<std::vector<int64_t>> groups;  ///< of a collective: partitions that take part together
  std::vector<std::pair<int64_t, int64_t>> source_target_pairs;  ///< of a collective-permute
  std::optional<int64_t> constant;                               ///< of an integer constant
};

struct HloComputation {
  int64_t id = 0;
  int64_t root = 0;
  std::string_view name;
  /// In the order they run in, where the compiler fixed one.
  std::vector<HloInstruction> instructions;
  std::unordered_map<int64_t, size_t> by_id;

  const HloInstruction& instruction(int64_t instruction_id) const { return instructions[by_id.at(instruction_id)]; }
};

/// A compiled program as a plugin gives it (`hlo_with_config` or `hlo`): only what plans need of it.
class HloModule {
 public:
  /// Throws RuntimeError on malformed bytes or on a format that is neither of the two.
  HloModule(std::string_view format, std::string bytes);

  const HloComputation& entry() const { return computation(entry_); }
  const HloComputation& computation(int64_t id) const;
  /// How often a loop runs: what the compiler notes, else the bound in its condition; 1 when neither tells.
  int64_t trip_count(const HloInstruction& loop) const;

 private:
  void read_module(std::string_view bytes);

  std::unique_ptr<const std::string> bytes_;  ///< names point into it
  std::unordered_map<int64_t, HloComputation> computations_;
  int64_t entry_ = 0;
};

/// The whole number after `"key":` in a backend config (JSON, number plain or quoted), if it is there.
std::optional<int64_t> config_number(std::string_view backend_config, std::string_view key);

}  // namespace pax
