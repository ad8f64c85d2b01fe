#pragma once

#include "pax/task/decoding/decoder.h"

namespace pax {

/// Keeps the `beam_size` likeliest answers of each prompt while writing on (praxis decoder_hparams.BeamSearchHParams).
class BeamDecoder final : public Decoder {
 public:
  struct Config : DecoderConfig {
    using Product = BeamDecoder;
    static constexpr std::string_view kName = "praxis.decoder_hparams.BeamSearchHParams";
    static constexpr std::string_view kAliases[] = {"praxis.layers.BeamSearchHParams"};
    static constexpr std::string_view kDoc = "Keeps the likeliest answers while writing on.";
    int64_t beam_size = 1;
    std::optional<int64_t> tokens_per_beam;
    double length_norm_alpha = 0.8;
    bool early_exit = false;
    bool use_matmul_beam_shuffle = false;
    int64_t output_id_offset = 0;
    static void fields(auto& self, auto&& visit) {
      DecoderConfig::fields(self, visit);
      visit("beam_size", self.beam_size, {.doc = "Answers that are kept.", .min = 1});
      visit("tokens_per_beam", self.tokens_per_beam, "Tokens tried for each; beam_size when unset.");
      visit("length_norm_alpha", self.length_norm_alpha, "Scores are divided by ((t + 5) / 5) to this power.");
      visit("early_exit", self.early_exit, "Stop when every beam has ended.");
      visit("use_matmul_beam_shuffle", self.use_matmul_beam_shuffle);
      visit("output_id_offset", self.output_id_offset, "Added to every id that is written.");
    }
  };
  explicit BeamDecoder(const Config& config) : config_(config) {}
  Tree<Tensor> decode(const DecodeModel& model, const DecodeInputs& inputs) const override;

 private:
  const Config config_;
};
extern template const config::ConfigType& config::type_of<BeamDecoder::Config>();

}  // namespace pax
