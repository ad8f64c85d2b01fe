#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "pax/serving/text_model.h"

namespace pax {

/// Which of OpenAI's interfaces a request speaks.
enum class Api : uint8_t { kCompletions, kChat };

/// A request for text, checked. The limits of a server hold for all of them.
struct CompletionRequest {
  Api api = Api::kCompletions;
  std::vector<std::string> prompt_texts;
  std::vector<std::vector<int32_t>> prompts;  ///< ids, one list a prompt
  SamplingOptions sampling;
  int64_t n = 1;  ///< texts for each prompt
  bool stream = false, echo = false, usage_in_stream = false;
};

struct CompletionLimits {
  int64_t max_texts = 128;       ///< prompts times n
  int64_t max_tokens = 1 << 20;  ///< of one text
};

/// A request that cannot be served, with its HTTP status.
struct BadRequest {
  int status = 400;
  std::string message;
};

/// Reads the JSON body of /v1/completions or /v1/chat/completions. Throws BadRequest; never anything else for any body.
CompletionRequest parse_completion(Api api, std::string_view body, const TextModel& model,
                                   const CompletionLimits& limits);

/// The messages of a chat as one prompt, in the form that the tokenizer's special tokens suggest (ChatML, Llama 3), or
/// as "User: …" and "Assistant:" lines.
std::string chat_prompt(const nlohmann::json& messages, const data::Tokenizer& tokenizer);

/// One text of an answer, or a piece of it.
struct Choice {
  int64_t index = 0;
  std::string text;
  std::vector<DrawnToken> tokens;  ///< with log-probabilities, if they were asked for
  std::string finish_reason;       ///< empty: it goes on
};

/// What an answer is about.
struct AnswerHead {
  Api api = Api::kCompletions;
  std::string id, model;
  int64_t created = 0;
  int64_t prompt_tokens = 0, completion_tokens = 0;
  bool logprobs = false;
};

/// The whole answer as JSON text.
std::string answer_json(const AnswerHead& head, const std::vector<Choice>& choices, const data::Tokenizer& tokenizer);
/// One event of a stream, "data: {…}\n\n". Without choices it tells the usage.
std::string stream_event(const AnswerHead& head, const std::vector<Choice>& choices, const data::Tokenizer& tokenizer);
/// {"error": {…}}.
std::string error_json(int status, std::string_view message);

}  // namespace pax
