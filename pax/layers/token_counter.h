#pragma once

#include "pax/layers/layer.h"

namespace pax {

/// Counts the tokens trained on, in millions (praxis embedding_softmax.TokenCounter).
class TokenCounter final : public Layer {
 public:
  struct Config : LayerConfig {
    using Product = TokenCounter;
    static constexpr std::string_view kName = "praxis.layers.TokenCounter";
    static constexpr std::string_view kAliases[] = {"praxis.layers.embedding_softmax.TokenCounter"};
    static constexpr std::string_view kDoc = "Counts the tokens trained on, in millions.";
  };
  TokenCounter(const Config& config, const Scope& scope);
  /// `paddings` [B, T], 1 at padding. Does nothing outside of training.
  void count(Tensor paddings) const;

 private:
  Tensor approx_total_tokens_mm_;  ///< f32 scalar, not trained
};
extern template const config::ConfigType& config::type_of<TokenCounter::Config>();

}  // namespace pax
