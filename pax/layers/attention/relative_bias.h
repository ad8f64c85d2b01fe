#pragma once

#include "pax/layers/layer.h"

namespace pax {

/// A learnt bias of the logits for each head and bucket of relative positions (praxis attentions.RelativeBias; T5).
class RelativeBias final : public Layer {
 public:
  struct Config : LayerConfig {
    using Product = RelativeBias;
    static constexpr std::string_view kName = "praxis.layers.RelativeBias";
    static constexpr std::string_view kAliases[] = {"praxis.layers.attentions.RelativeBias"};
    static constexpr std::string_view kDoc = "A bias for each head and distance of positions.";
    int64_t num_heads = 1;
    bool use_length_as_position = true;
    int64_t relative_attention_num_buckets = 32;
    int64_t relative_attention_max_distance = 128;
    bool bidirectional = false;
    bool use_xavier_init = false;
    static void fields(auto& self, auto&& visit) {
      LayerConfig::fields(self, visit);
      visit("num_heads", self.num_heads);
      visit("use_length_as_position", self.use_length_as_position,
            "In training count positions from the start of the row, whatever the segments.");
      visit("relative_attention_num_buckets", self.relative_attention_num_buckets, {.doc = "", .min = 2});
      visit("relative_attention_max_distance", self.relative_attention_max_distance, {.doc = "", .min = 1});
      visit("bidirectional", self.bidirectional, "Half of the buckets are for positions ahead.");
      visit("use_xavier_init", self.use_xavier_init);
    }
  };
  RelativeBias(const Config& config, const Scope& scope);

  /// [1|B, N, T, S] from positions [B, T] and [B, S]; null keys are the queries.
  Tensor bias(Tensor query_pos_bt, Tensor key_pos_bs) const;
  /// [1|B, N, 1, S] of a query at position `time_step` (integer scalar, or [B]) of S.
  Tensor bias_of_step(Tensor time_step, int64_t length) const;

 private:
  Tensor bucket(Tensor relative_position) const;
  Tensor weights_of(Tensor relative_position_bts) const;

  const Config config_;
  Tensor wrb_;  ///< [N, buckets]
};
extern template const config::ConfigType& config::type_of<RelativeBias::Config>();

}  // namespace pax
