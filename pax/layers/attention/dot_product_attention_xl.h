#pragma once

#include "pax/layers/attention/dot_product_attention.h"
#include "pax/layers/attention/xl_positions.h"

namespace pax {

/// Self-attention by content and relative position (praxis attentions.DotProductAttentionXL).
class DotProductAttentionXL : public DotProductAttention {
 public:
  struct Config : DotProductAttention::Config {
    using Product = DotProductAttentionXL;
    static constexpr std::string_view kName = "praxis.layers.DotProductAttentionXL";
    static constexpr std::string_view kAliases[] = {"praxis.layers.attentions.DotProductAttentionXL"};
    static constexpr std::string_view kDoc = "Self-attention by content and relative position.";
    int64_t rel_pos_emb_dim = 0;
    static void fields(auto& self, auto&& visit) {
      DotProductAttention::Config::fields(self, visit);
      visit("rel_pos_emb_dim", self.rel_pos_emb_dim, "Size of the sinusoids of the distance.");
    }
  };
  DotProductAttentionXL(const Config& config, const Scope& scope);

 private:
  Tensor logits(Tensor query_btnh, Tensor key_bsnh) const override;
  Tensor logits_one_step(Tensor query_bnh, Tensor key_bsnh, Tensor time_step) const override;

  const XlPositions positions_;
};
extern template const config::ConfigType& config::type_of<DotProductAttentionXL::Config>();

}  // namespace pax
