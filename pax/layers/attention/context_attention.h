#pragma once

#include "pax/layers/attention/dot_product_attention_xl.h"

namespace pax {

/// How far attention sees; absent: without limit.
struct ContextConfig {
  std::optional<int64_t> left_context, right_context;
  static void fields(auto& self, auto&& visit) {
    visit("left_context", self.left_context, "Positions seen to the left, the present one included; null: all.");
    visit("right_context", self.right_context, "Positions seen to the right; null: all.");
  }
};

/// Attention that may be limited to near positions by a mask (praxis conformers.DotProductAttentionWithContext).
class DotProductAttentionWithContext final : public DotProductAttention {
 public:
  struct Config : DotProductAttention::Config, ContextConfig {
    using Product = DotProductAttentionWithContext;
    static constexpr std::string_view kName = "praxis.layers.DotProductAttentionWithContext";
    static constexpr std::string_view kAliases[] = {"praxis.layers.conformers.DotProductAttentionWithContext"};
    static constexpr std::string_view kDoc = "Attention limited to near positions by a mask.";
    static void fields(auto& self, auto&& visit) {
      DotProductAttention::Config::fields(self, visit);
      ContextConfig::fields(self, visit);
    }
  };
  DotProductAttentionWithContext(const Config& config, const Scope& scope)
      : DotProductAttention(config, scope), context_(config) {}
  bool limits_context() const override { return context_.left_context || context_.right_context; }

 private:
  Context attend(const Heads& heads) const override;
  Tensor mask_one_step(Tensor mask, Tensor time_step) const override;
  const ContextConfig context_;
};
extern template const config::ConfigType& config::type_of<DotProductAttentionWithContext::Config>();

/// The same by content and relative position (praxis conformers.DotProductAttentionWithContextXL).
class DotProductAttentionWithContextXL final : public DotProductAttentionXL {
 public:
  struct Config : DotProductAttentionXL::Config, ContextConfig {
    using Product = DotProductAttentionWithContextXL;
    static constexpr std::string_view kName = "praxis.layers.DotProductAttentionWithContextXL";
    static constexpr std::string_view kAliases[] = {"praxis.layers.conformers.DotProductAttentionWithContextXL"};
    static constexpr std::string_view kDoc = "Attention by content and relative position, limited by a mask.";
    static void fields(auto& self, auto&& visit) {
      DotProductAttentionXL::Config::fields(self, visit);
      ContextConfig::fields(self, visit);
    }
  };
  DotProductAttentionWithContextXL(const Config& config, const Scope& scope)
      : DotProductAttentionXL(config, scope), context_(config) {}
  bool limits_context() const override { return context_.left_context || context_.right_context; }

 private:
  Context attend(const Heads& heads) const override;
  Tensor mask_one_step(Tensor mask, Tensor time_step) const override;
  const ContextConfig context_;
};
extern template const config::ConfigType& config::type_of<DotProductAttentionWithContextXL::Config>();

}  // namespace pax
