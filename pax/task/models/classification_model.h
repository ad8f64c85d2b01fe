#pragma once

#include "pax/layers/linears.h"
#include "pax/layers/softmax/full_softmax.h"
#include "pax/task/base_model.h"

namespace pax {

/// A network and a softmax over classes (praxis models.ClassificationModel). Batch: `input_field` [B, …],
/// `label_field` [B, classes], probabilities; `weight` [B] if there is one.
class ClassificationModel final : public BaseModel {
 public:
  struct Config : LayerConfig {
    using Product = ClassificationModel;
    static constexpr std::string_view kName = "praxis.layers.ClassificationModel";
    static constexpr std::string_view kAliases[] = {"praxis.layers.models.ClassificationModel"};
    static constexpr std::string_view kDoc = "A network and a softmax over classes.";
    Tpl<Layer> network_tpl;
    Tpl<Softmax> softmax_tpl = FullSoftmax::Config{};
    std::string input_field = "image";
    std::string label_field = "label_probs";
    static void fields(auto& self, auto&& visit) {
      LayerConfig::fields(self, visit);
      visit("network_tpl", self.network_tpl, "From the input to features [B, D].");
      visit("softmax_tpl", self.softmax_tpl);
      visit("input_field", self.input_field);
      visit("label_field", self.label_field);
    }
  };
  ClassificationModel(const Config& config, const Scope& scope);
  ModelOutput compute_loss(const Tree<Tensor>& batch) const override;

 private:
  const Config config_;
  Child<Layer> network_;
  Child<Softmax> softmax_;
};
extern template const config::ConfigType& config::type_of<ClassificationModel::Config>();

/// Embedding, feed-forward layers, softmax (praxis models.ClassificationMLPModel). Batch: `ids`, `labels`, `weights`
/// [B, T].
class ClassificationMLPModel final : public BaseModel {
 public:
  struct Config : LayerConfig {
    using Product = ClassificationMLPModel;
    static constexpr std::string_view kName = "praxis.layers.ClassificationMLPModel";
    static constexpr std::string_view kAliases[] = {"praxis.layers.models.ClassificationMLPModel"};
    static constexpr std::string_view kDoc = "Embedding, feed-forward layers, softmax.";
    Tpl<Layer> mlp_tpl = MLPBlock::Config{};
    Tpl<Softmax> softmax_tpl = SharedEmbeddingSoftmax::Config{};
    static void fields(auto& self, auto&& visit) {
      LayerConfig::fields(self, visit);
      visit("mlp_tpl", self.mlp_tpl);
      visit("softmax_tpl", self.softmax_tpl);
    }
  };
  ClassificationMLPModel(const Config& config, const Scope& scope);
  ModelOutput compute_loss(const Tree<Tensor>& batch) const override;

 private:
  Child<Layer> mlp_layers_0_;
  Child<Softmax> softmax_;
};
extern template const config::ConfigType& config::type_of<ClassificationMLPModel::Config>();

}  // namespace pax
