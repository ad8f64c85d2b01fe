#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pax {

/// The wire format by hand: what a test wants in a compiled program.
class Message {
 public:
  Message& number(uint32_t field, uint64_t value);
  Message& bytes(uint32_t field, std::string_view value);
  Message& message(uint32_t field, const Message& value) { return bytes(field, value.out_); }
  Message& packed(uint32_t field, const std::vector<int64_t>& values);
  const std::string& str() const { return out_; }

 private:
  std::string out_;
};

/// What tests say of an instruction.
struct InstructionText {
  int64_t id = 0;
  std::string opcode;
  std::vector<int64_t> dims;  ///< of a float32 result
  std::vector<int64_t> operands, called;
  std::string op_name, backend_config;
  std::vector<std::vector<int64_t>> groups;
  int64_t constant = -1;  ///< a scalar integer, if not negative
};

/// A computation of instructions in the order they run in; the module's schedule has them so whatever their place.
struct ComputationText {
  int64_t id = 0;
  std::string name;
  std::vector<InstructionText> instructions;
};

/// An HloModuleProtoWithConfig whose entry is the first computation.
std::string hlo_with_config(const std::vector<ComputationText>& computations);

}  // namespace pax
