#pragma once

#include "pax/task/decoding/decoder.h"
#include "pax/task/decoding/next_token_sampler.h"

namespace pax {

/// Writes on with the likeliest token (praxis decoder_hparams.GreedyDecoderHParams).
class GreedyDecoder final : public Decoder {
 public:
  struct Config : DecoderConfig {
    using Product = GreedyDecoder;
    static constexpr std::string_view kName = "praxis.decoder_hparams.GreedyDecoderHParams";
    static constexpr std::string_view kAliases[] = {"praxis.layers.GreedyDecoderHParams"};
    static constexpr std::string_view kDoc = "Writes on with the likeliest token.";
  };
  explicit GreedyDecoder(const Config& config) : config_(config) {}
  Tree<Tensor> decode(const DecodeModel& model, const DecodeInputs& inputs) const override;

 private:
  const Config config_;
};
extern template const config::ConfigType& config::type_of<GreedyDecoder::Config>();

/// Writes on with tokens drawn at random, several times for each prompt if wanted (praxis
/// decoder_hparams.SampleDecoderHParams). Rows of the batch may carry their own `temperature`,
/// `per_example_max_decode_steps`, `per_example_top_p`, `per_example_top_k`, `gumbel_prng_key`.
class SampleDecoder final : public Decoder {
 public:
  struct Config : DecoderConfig {
    using Product = SampleDecoder;
    static constexpr std::string_view kName = "praxis.decoder_hparams.SampleDecoderHParams";
    static constexpr std::string_view kAliases[] = {"praxis.layers.SampleDecoderHParams"};
    static constexpr std::string_view kDoc = "Writes on with tokens drawn at random.";
    int64_t num_samples = 1;
    double temperature = 1.0;
    int64_t k = 40;
    double top_k_recall_target = 1.0;
    bool use_top_k_for_logprobs = false;
    std::optional<double> p;
    DefaultNextTokenSampler next_token_sampler_tpl;
    config::Value sample_constraint;
    bool global_normalize = false;
    config::Value cf_guidance_scale;
    config::Value controlled_decoding;
    std::optional<bool> sort_samples = true;
    bool override_next_token_sampler_params = true;
    bool optimize_eos = false;
    bool vanilla_sample_decode = false;
    bool early_exit = true;
    static void fields(auto& self, auto&& visit) {
      DecoderConfig::fields(self, visit);
      visit("num_samples", self.num_samples, {.doc = "Answers for each prompt.", .min = 1});
      visit("temperature", self.temperature, {.doc = "Noise of the draw; 0: the likeliest token.", .min = 0});
      visit("k", self.k, {.doc = "Draw among the likeliest k; 0: all.", .min = 0});
      visit("top_k_recall_target", self.top_k_recall_target, {.doc = "", .min = 0, .max = 1});
      visit("use_top_k_for_logprobs", self.use_top_k_for_logprobs);
      visit("p", self.p, "Draw among the likeliest that together reach this probability.");
      visit("next_token_sampler_tpl", self.next_token_sampler_tpl);
      visit("sample_constraint", self.sample_constraint);
      visit("global_normalize", self.global_normalize);
      visit("cf_guidance_scale", self.cf_guidance_scale);
      visit("controlled_decoding", self.controlled_decoding);
      visit("sort_samples", self.sort_samples, "Answers of a prompt by their log-probability.");
      visit("override_next_token_sampler_params", self.override_next_token_sampler_params,
            "k, p and what belongs to them hold for the sampler.");
      visit("optimize_eos", self.optimize_eos);
      visit("vanilla_sample_decode", self.vanilla_sample_decode);
      visit("early_exit", self.early_exit, "Stop when all rows have ended.");
    }
  };
  explicit SampleDecoder(const Config& config) : config_(config) {}
  Tree<Tensor> decode(const DecodeModel& model, const DecodeInputs& inputs) const override;

 private:
  const Config config_;
};
extern template const config::ConfigType& config::type_of<SampleDecoder::Config>();

/// What the two have in common (praxis sample_decode.sample_decode).
struct SampleOptions {
  DefaultNextTokenSampler sampler;
  double temperature = 0;
  int64_t num_samples = 1;
  bool sort_samples = true;
  bool early_exit = true;
};
Tree<Tensor> sample_decode(const DecodeModel& model, const DecoderConfig& config, const SampleOptions& options,
                           const DecodeInputs& inputs);

}  // namespace pax
