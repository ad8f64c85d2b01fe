#pragma once

#include <optional>

#include "pax/config/config.h"
#include "pax/ir/tensor.h"

namespace pax {

/// How a token is drawn from logits that are left (praxis token_samplers.DefaultCategoricalLogitsSampler).
struct DefaultCategoricalLogitsSampler {
  static constexpr std::string_view kName = "praxis.token_samplers.DefaultCategoricalLogitsSampler";
  static constexpr std::string_view kAliases[] = {"praxis.sample_decode.DefaultCategoricalLogitsSampler"};
  static void fields(auto&, auto&&) {}
};

/// What a draw depends on beside the logits [B, V].
struct SamplerInputs {
  double temperature = 1.0;
  Tensor temperature_b;  ///< f32, in place of `temperature`; may be null
  Tensor top_p_b;        ///< f32; may be null
  Tensor top_k_b;        ///< i32; may be null
  Tensor random_key;     ///< u32[2], or u32[B, 2]; null when nothing is drawn
};

/// Draws tokens from the likeliest ones (praxis token_samplers.DefaultNextTokenSampler): the `top_k` likeliest, of them
/// those that together reach `top_p`, of them one by Gumbel noise times the temperature. Temperature 0: the likeliest.
struct DefaultNextTokenSampler {
  static constexpr std::string_view kName = "praxis.token_samplers.DefaultNextTokenSampler";
  static constexpr std::string_view kAliases[] = {"praxis.sample_decode.DefaultNextTokenSampler"};
  static constexpr std::string_view kDoc = "Draws tokens from the likeliest ones.";
  int64_t top_k = 40;
  std::optional<double> top_p;
  double epsilon_p = 0.0;
  bool global_normalize = false;
  double top_k_recall_target = 1.0;
  bool use_top_k_for_logprobs = false;
  DefaultCategoricalLogitsSampler logits_sampler;
  static void fields(auto& self, auto&& visit) {
    visit("top_k", self.top_k, {.doc = "Only the likeliest k; 0: all.", .min = 0});
    visit("top_p", self.top_p, "Only the likeliest whose probabilities reach this.");
    visit("epsilon_p", self.epsilon_p, {.doc = "Only those at least this likely.", .min = 0, .max = 1});
    visit("global_normalize", self.global_normalize, "top_p counts probabilities of the whole vocabulary.");
    visit("top_k_recall_target", self.top_k_recall_target, {.doc = "", .min = 0, .max = 1});
    visit("use_top_k_for_logprobs", self.use_top_k_for_logprobs, "Log-probabilities among the top k.");
    visit("logits_sampler", self.logits_sampler);
  }

  struct Draw {
    Tensor ids_b;       ///< i32
    Tensor logprobs_b;  ///< among the top k, when asked for; else null
  };
  Draw draw(Tensor logits_bv, const SamplerInputs& inputs) const;
  /// Whether `draw` needs a key.
  bool draws(const SamplerInputs& inputs) const;
};

}  // namespace pax
