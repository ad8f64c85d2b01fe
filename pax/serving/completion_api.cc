#include "pax/serving/completion_api.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "pax/base/error.h"
#include "pax/serving/text_stream.h"

namespace pax {
namespace {

using nlohmann::json;

constexpr int64_t kDefaultMaxTokens = 16;
constexpr size_t kMostStops = 16;
constexpr int64_t kMostLogprobs = 20;

[[noreturn]] void refuse(std::string message) { throw BadRequest{400, std::move(message)}; }

/// Members of a request, with the type that each must have. A null is as if it were not there.
class Fields {
 public:
  explicit Fields(const json& object) : object_(object) {}

  const json* find(const char* name) const {
    const auto at = object_.find(name);
    return at == object_.end() || at->is_null() ? nullptr : &*at;
  }
  void number(const char* name, double& to) const {
    const json* field = find(name);
    if (field == nullptr) return;
    if (!field->is_number()) refuse(fmt::format("{}: a number is needed", name));
    to = field->get<double>();
  }
  void integer(const char* name, int64_t& to) const {
    double value = 0;
    if (find(name) == nullptr) return;
    number(name, value);
    if (std::floor(value) != value || std::abs(value) > 9e15) refuse(fmt::format("{}: a whole number is needed", name));
    to = static_cast<int64_t>(value);
  }
  void boolean(const char* name, bool& to) const {
    const json* field = find(name);
    if (field == nullptr) return;
    if (!field->is_boolean()) refuse(fmt::format("{}: true or false is needed", name));
    to = field->get<bool>();
  }
  void forbid(const char* name, const json& only) const {
    const json* field = find(name);
    if (field != nullptr && *field != only) refuse(fmt::format("{}: only {} is supported", name, only.dump()));
  }

 private:
  const json& object_;
};

std::vector<int32_t> ids_of(const json& list) {
  std::vector<int32_t> ids;
  for (const json& id : list) {
    if (!id.is_number_integer() || id.get<double>() < 0 || id.get<double>() > std::numeric_limits<int32_t>::max()) {
      refuse("prompt: token ids are whole numbers of 0 or more");
    }
    ids.push_back(id.get<int32_t>());
  }
  return ids;
}

bool is_ids(const json& value) { return value.is_array() && !value.empty() && value[0].is_number(); }

void add_prompt(const json& prompt, const TextModel& model, CompletionRequest& request) {
  if (prompt.is_string()) {
    request.prompt_texts.push_back(prompt.get<std::string>());
    request.prompts.push_back(model.encode_prompt(request.prompt_texts.back()));
  } else if (is_ids(prompt)) {
    request.prompts.push_back(ids_of(prompt));
    model.require_prompt(request.prompts.back());
    request.prompt_texts.push_back(repaired_utf8(model.tokenizer().decode(request.prompts.back())));
  } else {
    refuse("prompt: a text, a list of texts, a list of token ids or a list of such lists is needed");
  }
}

void read_prompts(const Fields& fields, const json& body, const TextModel& model, const CompletionLimits& limits,
                  CompletionRequest& request) {
  if (request.api == Api::kChat) {
    const json* messages = fields.find("messages");
    if (messages == nullptr) refuse("messages: a list of {role, content} is needed");
    add_prompt(json(chat_prompt(*messages, model.tokenizer())), model, request);
    return;
  }
  const json* prompt = fields.find("prompt");
  if (prompt == nullptr)
    refuse(body.contains("messages") ? "prompt: needed here; messages go to /v1/chat/completions"
                                     : "prompt: a text is needed");
  if (!prompt->is_array() || is_ids(*prompt)) return add_prompt(*prompt, model, request);
  if (static_cast<int64_t>(prompt->size()) > limits.max_texts) {
    refuse(fmt::format("prompt: {} prompts; at most {} are taken", prompt->size(), limits.max_texts));
  }
  for (const json& each : *prompt) add_prompt(each, model, request);
  if (request.prompts.empty()) refuse("prompt: the list is empty");
}

void read_stops(const Fields& fields, SamplingOptions& sampling) {
  if (const json* stop = fields.find("stop")) {
    sampling.stop.clear();
    for (const json& text : stop->is_array() ? *stop : json::array({*stop})) {
      if (!text.is_string() || text.get<std::string>().empty()) refuse("stop: a text or a list of texts is needed");
      sampling.stop.push_back(text.get<std::string>());
    }
    if (sampling.stop.size() > kMostStops) refuse(fmt::format("stop: at most {} texts are taken", kMostStops));
  }
  if (const json* ids = fields.find("stop_token_ids")) {
    if (!ids->is_array()) refuse("stop_token_ids: a list of token ids is needed");
    for (const int32_t id : ids_of(*ids)) sampling.eos_id.push_back(id);
  }
  bool ignore_eos = false;
  fields.boolean("ignore_eos", ignore_eos);
  if (ignore_eos) sampling.eos_id.clear();
}

void read_logprobs(const Fields& fields, CompletionRequest& request) {
  if (request.api == Api::kChat) {
    bool wanted = false;
    int64_t top = 0;
    fields.boolean("logprobs", wanted);
    fields.integer("top_logprobs", top);
    if (wanted) request.sampling.logprobs = top;
    if (!wanted && top > 0) refuse("top_logprobs: needs logprobs to be true");
  } else {
    fields.integer("logprobs", request.sampling.logprobs);
  }
  if (request.sampling.logprobs < -1 || request.sampling.logprobs > kMostLogprobs) {
    refuse(fmt::format("logprobs: between 0 and {} alternatives are given", kMostLogprobs));
  }
}

void read_sampling(const Fields& fields, CompletionRequest& request) {
  SamplingOptions& sampling = request.sampling;
  sampling.temperature = 1;
  fields.number("temperature", sampling.temperature);
  fields.number("top_p", sampling.p);
  fields.number("min_p", sampling.min_p);
  fields.integer("top_k", sampling.k);
  if (sampling.k == -1) sampling.k = 0;
  int64_t seed = static_cast<int64_t>(sampling.seed);
  fields.integer("seed", seed);
  sampling.seed = static_cast<uint64_t>(seed);
  sampling.max_decode_steps = kDefaultMaxTokens;
  if (request.api == Api::kChat) sampling.max_decode_steps = std::numeric_limits<int32_t>::max();
  fields.integer("max_tokens", sampling.max_decode_steps);
  if (request.api == Api::kChat) fields.integer("max_completion_tokens", sampling.max_decode_steps);
  sampling.min_decode_steps = 0;
  fields.integer("min_tokens", sampling.min_decode_steps);
  read_stops(fields, sampling);
  read_logprobs(fields, request);
  for (const char* name : {"presence_penalty", "frequency_penalty"}) {
    double value = 0;
    fields.number(name, value);
    if (value != 0) refuse(fmt::format("{}: only 0 is supported", name));
  }
  fields.forbid("best_of", 1);
  fields.forbid("suffix", "");
}

CompletionRequest read_request(Api api, const json& body, const TextModel& model, const CompletionLimits& limits) {
  const Fields fields(body);
  CompletionRequest request{.api = api, .sampling = model.default_sampling()};
  read_sampling(fields, request);
  fields.integer("n", request.n);
  fields.boolean("stream", request.stream);
  fields.boolean("echo", request.echo);
  if (const json* options = fields.find("stream_options")) {
    if (!options->is_object()) refuse("stream_options: an object is needed");
    Fields(*options).boolean("include_usage", request.usage_in_stream);
  }
  validate(request.sampling);
  if (request.n < 1 || request.n > limits.max_texts) {
    refuse(fmt::format("n is {}; it must be between 1 and {}", request.n, limits.max_texts));
  }
  read_prompts(fields, body, model, limits, request);
  const auto texts = static_cast<int64_t>(request.prompts.size()) * request.n;
  if (texts > limits.max_texts) {
    refuse(fmt::format("{} texts are asked for; at most {} are written at a time", texts, limits.max_texts));
  }
  request.sampling.max_decode_steps = std::min(request.sampling.max_decode_steps, limits.max_tokens);
  return request;
}

json top_json(const DrawnToken& token, const data::Tokenizer& tokenizer) {
  json top = json::object();
  for (const auto& [id, logprob] : token.top) top[repaired_utf8(tokenizer.piece(id))] = logprob;
  return top;
}

json logprobs_json(const Choice& choice, Api api, const data::Tokenizer& tokenizer) {
  if (api == Api::kChat) {
    json content = json::array();
    for (const DrawnToken& token : choice.tokens) {
      json top = json::array();
      for (const auto& [id, logprob] : token.top) {
        top.push_back({{"token", repaired_utf8(tokenizer.piece(id))}, {"logprob", logprob}});
      }
      content.push_back({{"token", repaired_utf8(tokenizer.piece(token.id))},
                         {"logprob", token.logprob},
                         {"top_logprobs", std::move(top)}});
    }
    return {{"content", std::move(content)}};
  }
  json tokens = json::array(), logprobs = json::array(), tops = json::array();
  for (const DrawnToken& token : choice.tokens) {
    tokens.push_back(repaired_utf8(tokenizer.piece(token.id)));
    logprobs.push_back(token.logprob);
    tops.push_back(top_json(token, tokenizer));
  }
  return {{"tokens", tokens}, {"token_logprobs", logprobs}, {"top_logprobs", tops}};
}

json choice_json(const AnswerHead& head, const Choice& choice, bool streamed, const data::Tokenizer& tokenizer) {
  json out{{"index", choice.index}, {"logprobs", nullptr}, {"finish_reason", nullptr}};
  if (!choice.finish_reason.empty()) out["finish_reason"] = choice.finish_reason;
  if (head.logprobs) out["logprobs"] = logprobs_json(choice, head.api, tokenizer);
  if (head.api == Api::kCompletions) {
    out["text"] = choice.text;
  } else {
    out[streamed ? "delta" : "message"] = {{"role", "assistant"}, {"content", choice.text}};
  }
  return out;
}

json answer(const AnswerHead& head, const std::vector<Choice>& choices, bool streamed,
            const data::Tokenizer& tokenizer) {
  const char* object = head.api == Api::kCompletions ? "text_completion"
                       : streamed                    ? "chat.completion.chunk"
                                                     : "chat.completion";
  json out{{"id", head.id}, {"object", object}, {"created", head.created}, {"model", head.model}};
  out["choices"] = json::array();
  for (const Choice& choice : choices) out["choices"].push_back(choice_json(head, choice, streamed, tokenizer));
  if (!streamed || choices.empty()) {
    out["usage"] = {{"prompt_tokens", head.prompt_tokens},
                    {"completion_tokens", head.completion_tokens},
                    {"total_tokens", head.prompt_tokens + head.completion_tokens}};
  }
  return out;
}

std::string text_of(const json& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); }

bool knows(const data::Tokenizer& tokenizer, std::string_view special) { return tokenizer.encode(special).size() == 1; }

}  // namespace

CompletionRequest parse_completion(Api api, std::string_view body, const TextModel& model,
                                   const CompletionLimits& limits) {
  try {
    const json parsed = json::parse(body, nullptr, false);
    if (parsed.is_discarded()) refuse("the body is not JSON");
    if (!parsed.is_object()) refuse("the body must be a JSON object");
    return read_request(api, parsed, model, limits);
  } catch (const Error& error) {
    refuse(error.what());
  } catch (const json::exception& error) {
    refuse(error.what());
  }
}

std::string chat_prompt(const json& messages, const data::Tokenizer& tokenizer) {
  if (!messages.is_array() || messages.empty()) refuse("messages: a list of {role, content} is needed");
  const bool chatml = knows(tokenizer, "<|im_start|>");
  const bool llama3 = !chatml && knows(tokenizer, "<|start_header_id|>");
  std::string prompt;
  for (const json& message : messages) {
    if (!message.is_object() || !message.contains("role") || !message["role"].is_string() ||
        !message.contains("content") || !message["content"].is_string()) {
      refuse("messages: each needs a role and a content, both texts");
    }
    std::string role = message["role"], content = message["content"];
    if (chatml) {
      prompt += fmt::format("<|im_start|>{}\n{}<|im_end|>\n", role, content);
    } else if (llama3) {
      prompt += fmt::format("<|start_header_id|>{}<|end_header_id|>\n\n{}<|eot_id|>", role, content);
    } else {
      if (!role.empty()) role[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(role[0])));
      prompt += fmt::format("{}: {}\n", role, content);
    }
  }
  if (chatml) return prompt + "<|im_start|>assistant\n";
  if (llama3) return prompt + "<|start_header_id|>assistant<|end_header_id|>\n\n";
  return prompt + "Assistant:";
}

std::string answer_json(const AnswerHead& head, const std::vector<Choice>& choices, const data::Tokenizer& tokenizer) {
  return text_of(answer(head, choices, false, tokenizer));
}

std::string stream_event(const AnswerHead& head, const std::vector<Choice>& choices, const data::Tokenizer& tokenizer) {
  return "data: " + text_of(answer(head, choices, true, tokenizer)) + "\n\n";
}

std::string error_json(int status, std::string_view message) {
  const char* type = status >= 500 ? "server_error" : status == 429 ? "rate_limit_error" : "invalid_request_error";
  return text_of({{"error", {{"message", message}, {"type", type}, {"code", status}}}});
}

}  // namespace pax
