#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "pax/serving/sampling.h"
#include "pax/serving/step_model.h"

namespace pax {

/// Why a text ended: its end token or a stop text; as long as it may be; nobody wants it any more; something broke.
enum class FinishReason : uint8_t { kStop, kLength, kCancelled, kError };
/// "stop", "length", "cancelled", "error".
std::string_view finish_reason_name(FinishReason reason);

/// A text to be written.
struct Sequence {
  std::vector<int32_t> prompt;
  SamplingOptions sampling;
  std::atomic<bool> wanted = true;  ///< false: end it at the next step; any thread may say so
  /// Called with each token but the end token; false: enough.
  std::function<bool(const DrawnToken&)> on_token;
  /// Called once; `error` says what broke.
  std::function<void(FinishReason, const std::string& error)> on_end;
};

/// Writes several texts side by side, each in a row of the model's cache; texts join and leave between steps. All calls
/// come from one thread. What breaks one text ends that text only.
class SlotLoop {
 public:
  /// Ids from `vocab_limit` on are never drawn: the model's vocabulary may be padded beyond the tokenizer's.
  SlotLoop(StepModel& model, int64_t vocab_limit);

  bool busy() const { return active_ > 0; }
  bool has_room() const { return active_ < static_cast<int64_t>(slots_.size()); }
  int64_t active() const { return active_; }
  int64_t finished() const { return finished_; }

  /// Reads the sequence's prompt into a free row. Needs room.
  void admit(std::shared_ptr<Sequence> sequence);
  /// One token for every text.
  void turn();
  /// Ends all texts.
  void end_all(FinishReason reason, const std::string& error = {});

 private:
  struct Slot {
    std::shared_ptr<Sequence> sequence;  ///< null: free
    std::unique_ptr<TokenSampler> sampler;
    int32_t last_id = 0;
    int32_t position = 0;  ///< of `last_id`
    int64_t written = 0;
  };
  void end(Slot& slot, FinishReason reason, const std::string& error = {});
  void take_token(Slot& slot, std::span<const float> logits);

  StepModel& model_;
  const int64_t vocab_limit_;
  std::vector<Slot> slots_;
  int64_t active_ = 0, finished_ = 0;
};

}  // namespace pax
