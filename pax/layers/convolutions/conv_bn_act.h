#pragma once

#include "pax/layers/activations.h"
#include "pax/layers/batch_norm.h"
#include "pax/layers/convolutions/conv.h"

namespace pax {

/// Convolution, normalisation over the batch, activation (praxis convolutions.ConvBNAct).
class ConvBNAct : public Conv2D {
 public:
  struct Config : Conv2D::Config {
    using Product = ConvBNAct;
    static constexpr std::string_view kName = "praxis.layers.ConvBNAct";
    static constexpr std::string_view kAliases[] = {"praxis.layers.convolutions.ConvBNAct"};
    static constexpr std::string_view kDoc = "Convolution, normalisation over the batch, activation.";
    Tpl<BaseNormalization> batch_norm_tpl = BatchNorm::Config{};
    Tpl<Layer> activation_tpl = ReLU::Config{};
    static void fields(auto& self, auto&& visit) {
      Conv2D::Config::fields(self, visit);
      visit("batch_norm_tpl", self.batch_norm_tpl, "The normalisation; null: none.");
      visit("activation_tpl", self.activation_tpl, "What follows it.");
    }
  };
  ConvBNAct(const Config& config, const Scope& scope);
  Tensor fprop(Tensor x) const override;

 private:
  Child<BaseNormalization> bn_;
  Child<Layer> activation_;
};
extern template const config::ConfigType& config::type_of<ConvBNAct::Config>();

/// ConvBNAct over padded sequences, whose height is time (praxis convolutions.ConvBNActWithPadding).
class ConvBNActWithPadding final : public ConvBNAct {
 public:
  struct Config : ConvBNAct::Config {
    using Product = ConvBNActWithPadding;
    static constexpr std::string_view kName = "praxis.layers.ConvBNActWithPadding";
    static constexpr std::string_view kAliases[] = {"praxis.layers.convolutions.ConvBNActWithPadding"};
    static constexpr std::string_view kDoc = "ConvBNAct over padded sequences.";
    bool compat_with_lingvo = false;
    static void fields(auto& self, auto&& visit) {
      ConvBNAct::Config::fields(self, visit);
      visit("compat_with_lingvo", self.compat_with_lingvo, "Paddings of strided outputs as Lingvo counts them.");
    }
  };
  ConvBNActWithPadding(const Config& config, const Scope& scope);

  struct Padded {
    Tensor outputs;   ///< [B, T', W', O]
    Tensor paddings;  ///< [B, T']
  };
  using ConvBNAct::fprop;
  /// `x` [B, T, W, I], `paddings` [B, T].
  Padded fprop(Tensor x, Tensor paddings) const;

 private:
  Tensor output_paddings(Tensor paddings, int64_t length) const;
  const bool compat_with_lingvo_;
};
extern template const config::ConfigType& config::type_of<ConvBNActWithPadding::Config>();

}  // namespace pax
