#pragma once

#include "pax/layers/transformer_models/transformer_lm.h"
#include "pax/task/base_model.h"

namespace pax {

/// Hides tokens for a model to find (praxis augmentations.MaskedLmDataAugmenter; Devlin et al. 2018).
class MaskedLmDataAugmenter final : public Layer {
 public:
  struct Config : LayerConfig {
    using Product = MaskedLmDataAugmenter;
    static constexpr std::string_view kName = "praxis.layers.MaskedLmDataAugmenter";
    static constexpr std::string_view kAliases[] = {"praxis.layers.augmentations.MaskedLmDataAugmenter"};
    static constexpr std::string_view kDoc = "Hides tokens for a model to find.";
    int64_t vocab_size = 0;
    double mask_prob = 0.12;
    double random_prob = 0.015;
    double same_prob = 0.015;
    int64_t mask_token_id = -1;
    static void fields(auto& self, auto&& visit) {
      LayerConfig::fields(self, visit);
      visit("vocab_size", self.vocab_size);
      visit("mask_prob", self.mask_prob, {.doc = "Tokens replaced by the mask.", .min = 0, .max = 1});
      visit("random_prob", self.random_prob, {.doc = "Tokens replaced by any other.", .min = 0, .max = 1});
      visit("same_prob", self.same_prob, {.doc = "Tokens to find that stay.", .min = 0, .max = 1});
      visit("mask_token_id", self.mask_token_id);
    }
  };
  struct Augmented {
    Tensor ids_bt;
    Tensor hidden_bt;  ///< f32, 1 where a token is to be found
  };
  MaskedLmDataAugmenter(const Config& config, const Scope& scope);
  Augmented augment(Tensor ids_bt, Tensor paddings_bt) const;

 private:
  const Config config_;
};
extern template const config::ConfigType& config::type_of<MaskedLmDataAugmenter::Config>();

/// A model trained to find hidden tokens (praxis models.BertModel). Batch: `labels` (the tokens), `paddings`,
/// `segment_ids`, `segment_pos` [B, T]; `masked_ids` and `masked_pos` when tokens are hidden already.
class BertModel final : public BaseModel {
 public:
  struct Config : LayerConfig {
    using Product = BertModel;
    static constexpr std::string_view kName = "praxis.layers.BertModel";
    static constexpr std::string_view kAliases[] = {"praxis.layers.models.BertModel"};
    static constexpr std::string_view kDoc = "Model trained to find hidden tokens.";
    Tpl<LanguageModelLayer> lm_tpl = TransformerLm::Config{};
    std::optional<double> label_smoothing_prob;
    int64_t mask_token_id = 0;
    bool force_mask_generation = false;
    static void fields(auto& self, auto&& visit) {
      LayerConfig::fields(self, visit);
      visit("lm_tpl", self.lm_tpl, "Bidirectional, for packed input.");
      visit("label_smoothing_prob", self.label_smoothing_prob, "In place of the softmax's own.");
      visit("mask_token_id", self.mask_token_id);
      visit("force_mask_generation", self.force_mask_generation, "Hide tokens even where the batch has done so.");
    }
  };
  BertModel(const Config& config, const Scope& scope);
  ModelOutput compute_loss(const Tree<Tensor>& batch) const override;

 private:
  const bool force_mask_generation_;
  Child<LanguageModelLayer> lm_;
  Child<MaskedLmDataAugmenter> mlm_augmenter_;
};
extern template const config::ConfigType& config::type_of<BertModel::Config>();

}  // namespace pax
