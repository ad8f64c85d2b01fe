#include "pax/serving/reply.h"

#include <algorithm>

namespace pax {

Reply::Reply(CompletionRequest request, const data::Tokenizer& tokenizer, Clock::time_point deadline)
    : request_(std::move(request)), tokenizer_(tokenizer), deadline_(deadline) {
  for (const auto& prompt : request_.prompts) prompt_tokens_ += static_cast<int64_t>(prompt.size());
}

std::vector<std::shared_ptr<Sequence>> Reply::sequences() {
  std::vector<std::shared_ptr<Sequence>> all;
  for (size_t prompt = 0; prompt < request_.prompts.size(); ++prompt) {
    for (int64_t i = 0; i < request_.n; ++i) all.push_back(sequence(prompt, static_cast<int64_t>(all.size())));
  }
  open_ = static_cast<int64_t>(all.size());
  sequences_.assign(all.begin(), all.end());
  return all;
}

std::shared_ptr<Sequence> Reply::sequence(size_t prompt, int64_t index) {
  auto text = std::make_shared<Text>();
  text->stream = std::make_unique<TextStream>(tokenizer_, request_.prompts[prompt], request_.sampling.stop);
  text->index = index;
  auto sequence = std::make_shared<Sequence>();
  sequence->prompt = request_.prompts[prompt];
  sequence->sampling = request_.sampling;
  sequence->sampling.seed += static_cast<uint64_t>(index);
  const auto self = shared_from_this();
  if (request_.echo) pieces_.push_back({.index = index, .text = request_.prompt_texts[prompt]});
  sequence->on_token = [self, text](const DrawnToken& token) {
    Choice choice{.index = text->index, .text = text->stream->push(token.id)};
    if (self->request_.sampling.logprobs >= 0) choice.tokens.push_back(token);
    self->put(std::move(choice));
    return !text->stream->stopped() && Clock::now() < self->deadline_;
  };
  sequence->on_end = [self, text](FinishReason reason, const std::string& error) {
    const bool late = reason == FinishReason::kStop && !text->stream->stopped() && Clock::now() >= self->deadline_;
    Choice choice{.index = text->index, .text = text->stream->finish()};
    choice.finish_reason = late ? "length" : std::string(finish_reason_name(reason));
    const std::lock_guard lock(self->mutex_);
    if (!error.empty()) self->error_ = error;
    self->pieces_.push_back(std::move(choice));
    --self->open_;
    self->changed_.notify_all();
  };
  return sequence;
}

void Reply::put(Choice choice) {
  const std::lock_guard lock(mutex_);
  if (completion_tokens_++ == 0) first_token_seconds_ = std::chrono::duration<double>(Clock::now() - start_).count();
  if (choice.text.empty() && choice.tokens.empty()) return;
  pieces_.push_back(std::move(choice));
  changed_.notify_all();
}

std::optional<Choice> Reply::next(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, patience, [&] { return !pieces_.empty() || open_ == 0; });
  if (pieces_.empty()) return std::nullopt;
  Choice piece = std::move(pieces_.front());
  pieces_.pop_front();
  return piece;
}

bool Reply::ended() const {
  const std::lock_guard lock(mutex_);
  return open_ == 0 && pieces_.empty();
}

std::vector<Choice> Reply::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return open_ == 0; });
  std::vector<Choice> whole(request_.prompts.size() * static_cast<size_t>(request_.n));
  for (Choice& piece : pieces_) {
    Choice& text = whole.at(static_cast<size_t>(piece.index));
    text.index = piece.index;
    text.text += piece.text;
    text.tokens.insert(text.tokens.end(), piece.tokens.begin(), piece.tokens.end());
    if (!piece.finish_reason.empty()) text.finish_reason = piece.finish_reason;
  }
  pieces_.clear();
  return whole;
}

void Reply::abandon() {
  for (const auto& sequence : sequences_) {
    if (const auto alive = sequence.lock()) alive->wanted = false;
  }
}

std::string Reply::error() const {
  const std::lock_guard lock(mutex_);
  return error_;
}

int64_t Reply::completion_tokens() const {
  const std::lock_guard lock(mutex_);
  return completion_tokens_;
}

double Reply::first_token_seconds() const {
  const std::lock_guard lock(mutex_);
  return first_token_seconds_;
}

}  // namespace pax
