#include "pax/serving/slot_loop.h"

#include <algorithm>
#include <exception>

namespace pax {

std::string_view finish_reason_name(FinishReason reason) {
  switch (reason) {
    case FinishReason::kStop:
      return "stop";
    case FinishReason::kLength:
      return "length";
    case FinishReason::kCancelled:
      return "cancelled";
    case FinishReason::kError:
      return "error";
  }
  return "";
}

SlotLoop::SlotLoop(StepModel& model, int64_t vocab_limit)
    : model_(model),
      vocab_limit_(std::min(vocab_limit, model.vocab_size())),
      slots_(static_cast<size_t>(model.rows())) {}

void SlotLoop::admit(std::shared_ptr<Sequence> sequence) {
  const auto free = std::ranges::find_if(slots_, [](const Slot& slot) { return slot.sequence == nullptr; });
  Slot& slot = *free;
  slot.sequence = std::move(sequence);
  ++active_;
  if (!slot.sequence->wanted) return end(slot, FinishReason::kCancelled);
  try {
    const std::vector<int32_t>& prompt = slot.sequence->prompt;
    model_.prefill(free - slots_.begin(), prompt);
    slot.sampler = std::make_unique<TokenSampler>(slot.sequence->sampling);
    slot.last_id = prompt.back();
    slot.position = static_cast<int32_t>(prompt.size()) - 1;
    slot.written = 0;
  } catch (const std::exception& error) {
    end(slot, FinishReason::kError, error.what());
  }
}

void SlotLoop::turn() {
  std::vector<int32_t> ids, positions;
  for (const Slot& slot : slots_) {
    ids.push_back(slot.last_id);
    positions.push_back(slot.position);
  }
  const HostArray logits = model_.step(ids, positions);
  const auto all = logits.values<float>();
  const auto vocab = static_cast<size_t>(model_.vocab_size());
  for (size_t row = 0; row < slots_.size(); ++row) {
    if (slots_[row].sequence == nullptr) continue;
    try {
      take_token(slots_[row], all.subspan(row * vocab, static_cast<size_t>(vocab_limit_)));
    } catch (const std::exception& error) {
      end(slots_[row], FinishReason::kError, error.what());
    }
  }
}

void SlotLoop::take_token(Slot& slot, std::span<const float> logits) {
  if (!slot.sequence->wanted) return end(slot, FinishReason::kCancelled);
  const SamplingOptions& sampling = slot.sequence->sampling;
  const DrawnToken token = slot.sampler->draw(logits);
  if (std::ranges::find(sampling.eos_id, token.id) != sampling.eos_id.end()) return end(slot, FinishReason::kStop);
  const bool more = slot.sequence->on_token(token);
  slot.last_id = token.id;
  ++slot.position;
  ++slot.written;
  if (!more) return end(slot, FinishReason::kStop);
  if (slot.written >= sampling.max_decode_steps || slot.position >= model_.length()) end(slot, FinishReason::kLength);
}

void SlotLoop::end(Slot& slot, FinishReason reason, const std::string& error) {
  const std::shared_ptr<Sequence> sequence = std::move(slot.sequence);
  slot = Slot();
  --active_;
  ++finished_;
  sequence->on_end(reason, error);
}

void SlotLoop::end_all(FinishReason reason, const std::string& error) {
  for (Slot& slot : slots_) {
    if (slot.sequence != nullptr) end(slot, reason, error);
  }
}

}  // namespace pax
