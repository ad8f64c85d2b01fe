#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>

#include "pax/serving/completion_api.h"
#include "pax/serving/text_stream.h"

namespace pax {

/// The texts that one request asked for, between the thread that writes them and the one that answers.
class Reply : public std::enable_shared_from_this<Reply> {
 public:
  using Clock = std::chrono::steady_clock;

  /// `deadline`: when texts end as they are.
  Reply(CompletionRequest request, const data::Tokenizer& tokenizer, Clock::time_point deadline);

  /// What the scheduler shall write; it keeps this alive.
  std::vector<std::shared_ptr<Sequence>> sequences();

  /// The next piece; waits for it up to `patience`. Nothing: none came. All is over once `ended`.
  std::optional<Choice> next(std::chrono::milliseconds patience);
  bool ended() const;
  /// All texts in whole, once they ended.
  std::vector<Choice> wait();
  /// Nobody reads on: the texts end at the next step.
  void abandon();

  /// What broke; empty when nothing did.
  std::string error() const;
  int64_t prompt_tokens() const { return prompt_tokens_; }
  int64_t completion_tokens() const;
  /// Seconds from the request to its first token; 0: none yet.
  double first_token_seconds() const;
  const CompletionRequest& request() const { return request_; }

 private:
  struct Text {
    std::unique_ptr<TextStream> stream;
    int64_t index = 0;
  };
  void put(Choice choice);
  std::shared_ptr<Sequence> sequence(size_t prompt, int64_t index);

  const CompletionRequest request_;
  const data::Tokenizer& tokenizer_;
  const Clock::time_point start_ = Clock::now(), deadline_;
  int64_t prompt_tokens_ = 0;
  std::vector<std::shared_ptr<Text>> texts_;
  std::vector<std::weak_ptr<Sequence>> sequences_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Choice> pieces_;
  int64_t open_ = 0, completion_tokens_ = 0;
  double first_token_seconds_ = 0;
  std::string error_;
};

}  // namespace pax
