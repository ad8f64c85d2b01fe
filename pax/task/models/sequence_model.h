#pragma once

#include "pax/layers/transformer_models/transformer_encoder_decoder.h"
#include "pax/task/base_model.h"
#include "pax/task/decoding/sample_decoder.h"

namespace pax {

/// A model trained to write one sequence from another (praxis models.SequenceModel). Batch: `src/ids`, `src/paddings`
/// [B, S]; `tgt/ids`, `tgt/labels`, `tgt/paddings`, `tgt/weights` [B, T]; `…/segment_ids` and `…/segment_pos` when
/// packed.
class SequenceModel final : public BaseModel {
 public:
  struct Config : LayerConfig {
    using Product = SequenceModel;
    static constexpr std::string_view kName = "praxis.layers.SequenceModel";
    static constexpr std::string_view kAliases[] = {"praxis.layers.models.SequenceModel"};
    static constexpr std::string_view kDoc = "Model trained to write one sequence from another.";
    Tpl<SequenceModelLayer> model_tpl = TransformerEncoderDecoder::Config{};
    bool return_predictions = false;
    Tpl<Decoder> decoder_tpl = GreedyDecoder::Config{};
    std::optional<double> label_smoothing_prob;
    static void fields(auto& self, auto&& visit) {
      LayerConfig::fields(self, visit);
      visit("model_tpl", self.model_tpl);
      visit("return_predictions", self.return_predictions);
      visit("decoder_tpl", self.decoder_tpl, "How the model writes.");
      visit("label_smoothing_prob", self.label_smoothing_prob, "In place of the softmax's own.");
    }
  };
  SequenceModel(const Config& config, const Scope& scope);
  ModelOutput compute_loss(const Tree<Tensor>& batch) const override;
  Tree<Tensor> decode(const Tree<Tensor>& batch) const override;

 private:
  SequenceInputs inputs_of(const Tree<Tensor>& batch) const;

  const Config config_;
  Child<SequenceModelLayer> model_;
};
extern template const config::ConfigType& config::type_of<SequenceModel::Config>();

}  // namespace pax
