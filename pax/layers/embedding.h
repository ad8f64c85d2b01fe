#pragma once

#include "pax/layers/base_ops.h"

namespace pax {

/// A trained vector for each id: integers [...] -> [..., input_dims] (praxis embedding_softmax.Embedding).
class Embedding final : public Layer {
 public:
  struct Config : LayerConfig {
    using Product = Embedding;
    static constexpr std::string_view kName = "praxis.layers.Embedding";
    static constexpr std::string_view kAliases[] = {"praxis.layers.embedding_softmax.Embedding"};
    static constexpr std::string_view kDoc = "A trained vector for each id.";
    int64_t num_classes = 0;
    int64_t input_dims = 0;
    LookupStyle lookup_style = LookupStyle::kIndex;
    bool scale_sqrt_depth = false;
    bool set_nan_for_oob_id = false;
    Tpl<ArrayLookup> array_lookup = ArrayLookup::Config{};
    Tpl<EinsumOp> einsum = EinsumOp::Config{};
    static void fields(auto& self, auto&& visit) {
      LayerConfig::fields(self, visit);
      visit("num_classes", self.num_classes, "Number of ids.");
      visit("input_dims", self.input_dims, "Size of a vector.");
      visit("lookup_style", self.lookup_style, "By index, or by product with a one-hot matrix.");
      visit("scale_sqrt_depth", self.scale_sqrt_depth, "Multiplies by sqrt(input_dims).");
      visit("set_nan_for_oob_id", self.set_nan_for_oob_id, "NaN for ids beyond the last.");
      visit("array_lookup", self.array_lookup, "What looks up, by index.");
      visit("einsum", self.einsum, "What multiplies, by product.");
    }
  };
  Embedding(const Config& config, const Scope& scope);
  Tensor fprop(Tensor ids) const override;

 private:
  const Config config_;
  Tensor emb_var_;  ///< [num_classes, input_dims]
  Child<ArrayLookup> array_lookup_;
  Child<EinsumOp> einsum_;
};
extern template const config::ConfigType& config::type_of<Embedding::Config>();

}  // namespace pax
