#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "pax/task/decoding/decoder.h"

namespace pax {

/// How one text is written, by the names of Praxis's DecoderHParams.
struct SamplingOptions {
  double temperature = 0;  ///< of the draw; 0: the likeliest token
  int64_t k = 0;           ///< draw among the likeliest k; 0: all
  double p = 1;            ///< of these, the likeliest that together reach p; 0: the likeliest token; 1: all
  double min_p = 0;        ///< of these, those at least min_p times as likely as the likeliest
  double epsilon_p = 0;    ///< before all that, only tokens at least this likely
  uint64_t seed = 0;
  int64_t max_decode_steps = 256;
  int64_t min_decode_steps = 0;   ///< no end before
  std::vector<int32_t> eos_id;    ///< tokens that end a text
  std::vector<std::string> stop;  ///< texts that end it, and are left out
  int64_t logprobs = -1;          ///< log-probabilities of each token and of so many alternatives; -1: none
};

/// What a decoder's config says: all that sampling and greedy decoders share with SamplingOptions.
SamplingOptions sampling_of(const Tpl<Decoder>& decoder);

/// Every mistake in one ConfigError, each naming the option.
void validate(const SamplingOptions& options);

/// A token that was drawn. Log-probabilities (natural) and entropy are of the model's own distribution, before any
/// option; 0 unless `logprobs` asked for them.
struct DrawnToken {
  int32_t id = 0;
  float logprob = 0;
  float entropy = 0;
  std::vector<std::pair<int32_t, float>> top;  ///< alternatives and their log-probabilities, the likeliest first
};

/// Draws the tokens of one text, as praxis token_samplers.DefaultNextTokenSampler: epsilon, top k, top p, then the
/// largest of logit plus Gumbel noise times temperature. The same seed and logits give the same tokens anywhere.
class TokenSampler {
 public:
  explicit TokenSampler(const SamplingOptions& options) : options_(options), random_(options.seed) {}

  /// Before `min_decode_steps` tokens were drawn no `eos_id` is. Throws RuntimeError when a logit is NaN or none is
  /// finite.
  DrawnToken draw(std::span<const float> logits);

 private:
  struct Candidate {
    int32_t id;
    float logit;
  };
  bool allowed(int32_t id) const;
  void keep_likely(std::span<const float> logits, float largest);
  int32_t pick();
  double gumbel();

  const SamplingOptions options_;
  std::mt19937_64 random_;
  int64_t drawn_ = 0;
  std::vector<Candidate> candidates_;
};

}  // namespace pax
