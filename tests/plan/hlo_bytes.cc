#include "tests/plan/hlo_bytes.h"

#include <algorithm>

namespace pax {
namespace {

void varint(std::string& out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}

constexpr uint64_t kF32 = 11;

Message instruction(const InstructionText& text) {
  Message out;
  out.bytes(1, text.opcode + "." + std::to_string(text.id)).bytes(2, text.opcode);
  out.message(3, Message().number(2, kF32).packed(3, text.dims));
  out.message(7, Message().bytes(2, text.op_name));
  if (text.constant >= 0) out.message(8, Message().packed(4, {text.constant}));
  out.number(35, static_cast<uint64_t>(text.id)).packed(36, text.operands).packed(38, text.called);
  out.bytes(43, text.backend_config);
  Message list;
  for (const auto& group : text.groups) list.message(1, Message().packed(1, group));
  if (!text.groups.empty()) out.message(87, list);
  return out;
}

}  // namespace

Message& Message::number(uint32_t field, uint64_t value) {
  varint(out_, field << 3);
  varint(out_, value);
  return *this;
}

Message& Message::bytes(uint32_t field, std::string_view value) {
  varint(out_, field << 3 | 2);
  varint(out_, value.size());
  out_ += value;
  return *this;
}

Message& Message::packed(uint32_t field, const std::vector<int64_t>& values) {
  std::string all;
  for (const int64_t value : values) varint(all, static_cast<uint64_t>(value));
  return bytes(field, all);
}

std::string hlo_with_config(const std::vector<ComputationText>& computations) {
  Message module, schedule;
  module.number(6, static_cast<uint64_t>(computations.front().id));
  for (const ComputationText& computation : computations) {
    Message out;
    out.bytes(1, computation.name).number(5, static_cast<uint64_t>(computation.id));
    std::vector<int64_t> order;
    for (const InstructionText& text : computation.instructions) order.push_back(text.id);
    // Written backwards: only the schedule tells the order.
    for (auto text = computation.instructions.rbegin(); text != computation.instructions.rend(); ++text) {
      out.message(2, instruction(*text));
    }
    module.message(3, out);
    schedule.message(1,
                     Message().number(1, static_cast<uint64_t>(computation.id)).message(2, Message().packed(1, order)));
  }
  module.message(7, schedule);
  return Message().message(1, module).str();
}

}  // namespace pax
