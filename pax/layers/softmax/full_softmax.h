#pragma once

#include "pax/layers/linears.h"
#include "pax/layers/losses.h"
#include "pax/layers/softmax/softmax.h"

namespace pax {

/// Projection to classes and cross-entropy (praxis embedding_softmax.FullSoftmax).
class FullSoftmax : public Softmax {
 public:
  struct Config : LayerConfig {
    using Product = FullSoftmax;
    static constexpr std::string_view kName = "praxis.layers.FullSoftmax";
    static constexpr std::string_view kAliases[] = {"praxis.layers.embedding_softmax.FullSoftmax"};
    static constexpr std::string_view kDoc = "Projection to classes and cross-entropy.";
    int64_t input_dims = 0;
    int64_t num_classes = 0;
    std::optional<double> soft_cap_logits = 0.0;
    Tpl<BiTemperedLoss> bi_tempered_loss_tpl;
    double label_smoothing_prob = 0.0;
    bool label_smoothing_apply_for_eval = true;
    double z_loss_weight = 0.0;
    std::optional<double> bias_init = 0.0;
    Tpl<Layer> feed_forward_tpl = FeedForward::Config{};
    bool scale_before_logits = false;
    std::optional<int64_t> chunk_size;
    static void fields(auto& self, auto&& visit) {
      LayerConfig::fields(self, visit);
      visit("input_dims", self.input_dims, "Depth of the input, and of embeddings.");
      visit("num_classes", self.num_classes, "Number of classes; size of the vocabulary.");
      visit("soft_cap_logits", self.soft_cap_logits, "Logits are held within this by tanh; 0 or null: not.");
      visit("bi_tempered_loss_tpl", self.bi_tempered_loss_tpl, "Takes the place of cross-entropy.");
      visit("label_smoothing_prob", self.label_smoothing_prob,
            "Probability shared by the classes that are not the label.");
      visit("label_smoothing_apply_for_eval", self.label_smoothing_apply_for_eval, "Smooths outside of training too.");
      visit("z_loss_weight", self.z_loss_weight, "Weight of the auxiliary loss logsumexp(logits)^2.");
      visit("bias_init", self.bias_init, "First value of the bias.");
      visit("feed_forward_tpl", self.feed_forward_tpl, "The projection; null: the input is the logits.");
      visit("scale_before_logits", self.scale_before_logits, "Multiplies the input by 1 / sqrt(input_dims).");
      visit("chunk_size", self.chunk_size, "Positions at a time, to save memory; logits are then not given.");
    }
  };
  FullSoftmax(const Config& config, const Scope& scope);

  Tensor get_logits(Tensor inputs) const override;
  using Softmax::fprop;
  SoftmaxOutput fprop(const SoftmaxInputs& in) const override;

 protected:
  /// For classes with a projection of their own.
  enum class Projection : uint8_t { kFeedForward, kOwn };
  FullSoftmax(const Config& config, const Scope& scope, Projection projection);

  /// Null without feed_forward_tpl.
  const Layer* logits_ffn() const { return logits_ffn_ ? &*logits_ffn_ : nullptr; }

 private:
  struct Xent {
    Tensor per_example_xent, per_example_argmax, logits, log_probs;
  };
  Xent compute_xent(Tensor inputs, Tensor class_ids, Tensor class_probabilities) const;
  Xent compute_xent_by_chunks(Tensor inputs, Tensor class_ids) const;
  Tensor labels(Tensor class_ids) const;

  const Config config_;
  Child<Layer> logits_ffn_;
  Child<BiTemperedLoss> bi_tempered_loss_;
};
extern template const config::ConfigType& config::type_of<FullSoftmax::Config>();

/// FullSoftmax whose projection is also the table of embeddings (praxis embedding_softmax.SharedEmbeddingSoftmax).
class SharedEmbeddingSoftmax : public FullSoftmax {
 public:
  struct Config : FullSoftmax::Config {
    using Product = SharedEmbeddingSoftmax;
    static constexpr std::string_view kName = "praxis.layers.SharedEmbeddingSoftmax";
    static constexpr std::string_view kAliases[] = {"praxis.layers.embedding_softmax.SharedEmbeddingSoftmax"};
    static constexpr std::string_view kDoc = "FullSoftmax whose projection is also the table of embeddings.";
    LookupStyle lookup_style = LookupStyle::kIndex;
    bool scale_sqrt_depth = false;
    Tpl<ArrayLookup> array_lookup_tpl = ArrayLookup::Config{};
    Tpl<EinsumOp> einsum_tpl = EinsumOp::Config{};
    static void fields(auto& self, auto&& visit) {
      FullSoftmax::Config::fields(self, visit);
      visit("lookup_style", self.lookup_style, "By index, or by product with a one-hot matrix.");
      visit("scale_sqrt_depth", self.scale_sqrt_depth, "Multiplies embeddings by sqrt(input_dims).");
      visit("array_lookup_tpl", self.array_lookup_tpl, "What looks up, by index.");
      visit("einsum_tpl", self.einsum_tpl, "What multiplies, by product.");
    }
  };
  SharedEmbeddingSoftmax(const Config& config, const Scope& scope);
  Tensor emb_lookup(Tensor ids) const override;

 protected:
  SharedEmbeddingSoftmax(const Config& config, const Scope& scope, Projection projection);

  const EinsumOp& einsum_op() const { return *einsum_; }
  /// Rows `ids` of `table` [V, D], scaled and split as the config says.
  Tensor lookup(Tensor table, Tensor ids) const;

 private:
  const LookupStyle lookup_style_;
  const std::optional<double> scale_;
  Child<ArrayLookup> array_lookup_;
  Child<EinsumOp> einsum_;
};
extern template const config::ConfigType& config::type_of<SharedEmbeddingSoftmax::Config>();

/// The same with the table kept as [V, D] (praxis embedding_softmax.NClassMajorSharedEmbeddingSoftmax).
class NClassMajorSharedEmbeddingSoftmax final : public SharedEmbeddingSoftmax {
 public:
  struct Config : SharedEmbeddingSoftmax::Config {
    using Product = NClassMajorSharedEmbeddingSoftmax;
    static constexpr std::string_view kName = "praxis.layers.NClassMajorSharedEmbeddingSoftmax";
    static constexpr std::string_view kAliases[] = {
        "praxis.layers.embedding_softmax.NClassMajorSharedEmbeddingSoftmax"};
    static constexpr std::string_view kDoc = "SharedEmbeddingSoftmax with one row a class.";
    Tpl<Layer> activation_tpl = Identity::Config{};
    bool use_bias = true;
    static void fields(auto& self, auto&& visit) {
      SharedEmbeddingSoftmax::Config::fields(self, visit);
      visit("activation_tpl", self.activation_tpl, "What follows the bias.");
      visit("use_bias", self.use_bias, "Whether there is a bias.");
    }
  };
  NClassMajorSharedEmbeddingSoftmax(const Config& config, const Scope& scope);
  Tensor get_logits(Tensor inputs) const override;
  Tensor emb_lookup(Tensor ids) const override;

 private:
  const std::optional<double> soft_cap_logits_;
  Tensor w_;  ///< [V, D]
  Child<Layer> bias_, activation_;
};
extern template const config::ConfigType& config::type_of<NClassMajorSharedEmbeddingSoftmax::Config>();

}  // namespace pax
