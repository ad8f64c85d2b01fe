#pragma once

#include "pax/layers/token_counter.h"
#include "pax/layers/transformer_models/transformer_lm.h"
#include "pax/task/base_model.h"
#include "pax/task/decoding/sample_decoder.h"

namespace pax {

/// A language model trained to foretell the next token (praxis models.LanguageModel). Batch: `ids`, `labels`,
/// `paddings`, `weights` [B, T]; `segment_ids`, `segment_pos` when packed; `inputs_indicator` for a prefix model;
/// `eval_sample_weights` [B] when asked to apply them.
class LanguageModel final : public BaseModel {
 public:
  struct Config : LayerConfig {
    using Product = LanguageModel;
    static constexpr std::string_view kName = "praxis.layers.LanguageModel";
    static constexpr std::string_view kAliases[] = {"praxis.layers.models.LanguageModel"};
    static constexpr std::string_view kDoc = "Language model trained to foretell the next token.";
    Tpl<LanguageModelLayer> lm_tpl = TransformerLm::Config{};
    bool return_predictions = false;
    Tpl<Decoder> decoder_tpl = GreedyDecoder::Config{};
    LanguageModelType model_type = LanguageModelType::kCausal;
    bool count_tokens = false;
    bool apply_eval_sample_weights = false;
    bool report_strict_acc = false;
    static void fields(auto& self, auto&& visit) {
      LayerConfig::fields(self, visit);
      visit("lm_tpl", self.lm_tpl);
      visit("return_predictions", self.return_predictions);
      visit("decoder_tpl", self.decoder_tpl, "How the model writes on from a prompt.");
      visit("model_type", self.model_type, "Which tokens a token sees.");
      visit("count_tokens", self.count_tokens, "Keep the number of tokens trained on in the state.");
      visit("apply_eval_sample_weights", self.apply_eval_sample_weights, "Weigh rows by eval_sample_weights.");
      visit("report_strict_acc", self.report_strict_acc, "Metric acc_strict: rows with every token right.");
    }
  };
  LanguageModel(const Config& config, const Scope& scope);
  ModelOutput compute_loss(const Tree<Tensor>& batch) const override;
  Tree<Tensor> decode(const Tree<Tensor>& batch) const override;
  std::unique_ptr<DecodeModel> decode_model() const override;

  const LanguageModelLayer& lm() const { return *lm_; }

 private:
  LmInputs inputs_of(const Tree<Tensor>& batch) const;
  DecodeInputs prompts_of(const Tree<Tensor>& batch) const;

  const Config config_;
  Child<LanguageModelLayer> lm_;
  Child<TokenCounter> token_counter_;  ///< empty without count_tokens
};
extern template const config::ConfigType& config::type_of<LanguageModel::Config>();

}  // namespace pax
