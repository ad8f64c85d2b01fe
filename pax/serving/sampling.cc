#include "pax/serving/sampling.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "pax/base/error.h"
#include "pax/base/text.h"

namespace pax {
namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();

bool likelier(float a_logit, int32_t a_id, float b_logit, int32_t b_id) {
  return a_logit != b_logit ? a_logit > b_logit : a_id < b_id;
}

/// The largest logit. Throws when the model is broken.
float largest_of(std::span<const float> logits, int64_t position) {
  float largest = kNever;
  bool nan = false;
  for (const float logit : logits) {
    largest = std::max(largest, logit);
    nan |= std::isnan(logit);
  }
  if (nan || !std::isfinite(largest)) {
    fail<RuntimeError>(
        "decode: the model's logits for token {} are {}; its weights are damaged or its training diverged: use an "
        "earlier checkpoint (--step)",
        position, nan ? "NaN" : "not finite");
  }
  return largest;
}

double log_sum_exp(std::span<const float> logits, float largest) {
  double sum = 0;
  for (const float logit : logits) sum += std::exp(static_cast<double>(logit - largest));
  return largest + std::log(sum);
}

void add_logprobs(std::span<const float> logits, float largest, int64_t alternatives, DrawnToken& token) {
  const double norm = log_sum_exp(logits, largest);
  token.logprob = static_cast<float>(logits[static_cast<size_t>(token.id)] - norm);
  double entropy = 0;
  for (const float logit : logits) {
    const double logprob = logit - norm;
    if (std::isfinite(logprob)) entropy -= std::exp(logprob) * logprob;
  }
  token.entropy = static_cast<float>(entropy);
  const auto count = std::min(static_cast<size_t>(alternatives), logits.size());
  std::vector<int32_t> ids(logits.size());
  for (size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<int32_t>(i);
  const auto value = [&](int32_t id) { return logits[static_cast<size_t>(id)]; };
  std::partial_sort(ids.begin(), ids.begin() + static_cast<int64_t>(count), ids.end(),
                    [&](int32_t a, int32_t b) { return likelier(value(a), a, value(b), b); });
  for (size_t i = 0; i < count; ++i) token.top.emplace_back(ids[i], static_cast<float>(value(ids[i]) - norm));
}

}  // namespace

SamplingOptions sampling_of(const Tpl<Decoder>& decoder) {
  SamplingOptions options;
  if (!decoder) return options;
  options.temperature = decoder.get_or<double>("temperature", 0);
  options.k = decoder.get_or<int64_t>("k", 0);
  options.p = decoder.get_or<std::optional<double>>("p", std::nullopt).value_or(1.0);
  options.epsilon_p = decoder.get_or<double>("next_token_sampler_tpl.epsilon_p", 0);
  options.min_decode_steps = decoder.get<int64_t>("min_decode_steps");
  const auto list = [&](const OneOrMore& value) {
    if (const int64_t* one = std::get_if<0>(&value)) return std::vector<int64_t>{*one};
    return std::get<1>(value);
  };
  for (const int64_t id : list(decoder.get<OneOrMore>("eos_id"))) options.eos_id.push_back(static_cast<int32_t>(id));
  if (const auto steps = decoder.get<std::optional<OneOrMore>>("max_decode_steps")) {
    const std::vector<int64_t> all = list(*steps);
    if (!all.empty()) options.max_decode_steps = *std::ranges::max_element(all);
  }
  return options;
}

void validate(const SamplingOptions& options) {
  std::vector<std::string> mistakes;
  const auto require = [&](bool right, const char* name, double value, const char* range) {
    if (!right) mistakes.push_back(fmt::format("{} is {}; it must be {}", name, value, range));
  };
  const auto is_probability = [](double x) { return x >= 0 && x <= 1; };
  require(std::isfinite(options.temperature) && options.temperature >= 0, "temperature", options.temperature,
          "0 (the likeliest token) or more");
  require(options.k >= 0, "k", static_cast<double>(options.k), "0 (all tokens) or more");
  require(is_probability(options.p), "p", options.p, "between 0 (the likeliest token) and 1 (all)");
  require(is_probability(options.min_p), "min_p", options.min_p, "between 0 and 1");
  require(is_probability(options.epsilon_p), "epsilon_p", options.epsilon_p, "between 0 and 1");
  require(options.max_decode_steps >= 1, "max_decode_steps", static_cast<double>(options.max_decode_steps),
          "1 or more");
  require(options.min_decode_steps >= 0, "min_decode_steps", static_cast<double>(options.min_decode_steps),
          "0 or more");
  if (!mistakes.empty()) fail<ConfigError>("sampling: {}", join(mistakes, "; "));
}

bool TokenSampler::allowed(int32_t id) const {
  return drawn_ >= options_.min_decode_steps || std::ranges::find(options_.eos_id, id) == options_.eos_id.end();
}

double TokenSampler::gumbel() {
  // A number in (0, 1): 53 random bits and a half.
  const double uniform = (static_cast<double>(random_() >> 11) + 0.5) * 0x1p-53;
  return -std::log(-std::log(uniform));
}

void TokenSampler::keep_likely(std::span<const float> logits, float largest) {
  candidates_.clear();
  float least = kNever;
  if (options_.epsilon_p > 0) {
    least = static_cast<float>(log_sum_exp(logits, largest) + std::log(options_.epsilon_p));
  }
  for (size_t i = 0; i < logits.size(); ++i) {
    const auto id = static_cast<int32_t>(i);
    if (logits[i] >= std::min(least, largest) && logits[i] != kNever && allowed(id)) {
      candidates_.push_back({id, logits[i]});
    }
  }
  const auto before = [](const Candidate& a, const Candidate& b) { return likelier(a.logit, a.id, b.logit, b.id); };
  const auto k = static_cast<size_t>(options_.k);
  if (k > 0 && k < candidates_.size()) {
    std::nth_element(candidates_.begin(), candidates_.begin() + static_cast<int64_t>(k) - 1, candidates_.end(), before);
    candidates_.resize(k);
  }
  if (candidates_.empty() || (options_.p >= 1 && options_.min_p <= 0)) return;
  double sum = 0;
  for (const Candidate& each : candidates_) sum += std::exp(static_cast<double>(each.logit - largest));
  // The front is put in order as far as it is needed, which seldom is far.
  size_t kept = 0, sorted = 0;
  double reached = 0, first = 0;
  while (kept < candidates_.size()) {
    if (kept == sorted) {
      const size_t next = std::min(candidates_.size(), sorted == 0 ? size_t{256} : sorted * 8);
      std::partial_sort(candidates_.begin() + static_cast<int64_t>(sorted),
                        candidates_.begin() + static_cast<int64_t>(next), candidates_.end(), before);
      sorted = next;
    }
    const double probability = std::exp(static_cast<double>(candidates_[kept].logit - largest)) / sum;
    if (kept == 0) first = probability;
    // A token stays when those before it do not reach p.
    if (kept > 0 && ((options_.p < 1 && reached > options_.p) || probability < options_.min_p * first)) break;
    reached += probability;
    ++kept;
    if (options_.p <= 0) break;
  }
  candidates_.resize(kept);
}

int32_t TokenSampler::pick() {
  const Candidate* best = nullptr;
  double best_score = 0;
  for (const Candidate& each : candidates_) {
    const double score = options_.temperature > 0 ? each.logit + gumbel() * options_.temperature : each.logit;
    if (best == nullptr || score > best_score || (score == best_score && each.id < best->id)) {
      best = &each;
      best_score = score;
    }
  }
  if (best == nullptr) {
    fail<RuntimeError>("decode: every token ends the text, but min_decode_steps is {}; make it smaller",
                       options_.min_decode_steps);
  }
  return best->id;
}

DrawnToken TokenSampler::draw(std::span<const float> logits) {
  const float largest = largest_of(logits, drawn_);
  DrawnToken token;
  const bool greedy = options_.temperature <= 0 || options_.k == 1 || options_.p <= 0;
  if (greedy) {
    token.id = -1;
    for (size_t i = 0; i < logits.size(); ++i) {
      const auto id = static_cast<int32_t>(i);
      if ((token.id < 0 || logits[i] > logits[static_cast<size_t>(token.id)]) && allowed(id)) token.id = id;
    }
    candidates_.clear();
    if (token.id < 0) pick();
  } else {
    keep_likely(logits, largest);
    token.id = pick();
  }
  if (options_.logprobs >= 0) add_logprobs(logits, largest, options_.logprobs, token);
  ++drawn_;
  return token;
}

}  // namespace pax
