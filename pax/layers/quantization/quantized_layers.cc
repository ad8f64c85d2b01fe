#include "pax/layers/quantization/quantized_layers.h"

#include <fmt/format.h>

#include "pax/base/error.h"

namespace pax {
namespace {

/// Where heads and their dimension are one in the weight: the shape in which products take it. Integer weights have a
/// scale for each head, so they cannot be stored that way.
std::vector<int64_t> uncombined(bool combine, const std::optional<QuantizationParams>& params,
                                std::vector<int64_t> shape, const Scope& scope) {
  if (!combine) return {};
  if (params && params->mode == QuantizationMode::kInference) {
    fail<ConfigError>("{}: attention_combine_dims is true; it must be false in mode inference", scope.path());
  }
  return shape;
}

/// The params of a layer of this config.
const std::optional<QuantizationParams>& params_of(const QuantizedConfig& config, const Scope& scope) {
  if (!config.sparsity.is_null()) fail<ConfigError>("{}: sparsity is not supported; leave it out", scope.path());
  return config.quantization;
}

}  // namespace

QuantizedLinear::QuantizedLinear(const Config& config, const Scope& scope)
    : BaseLinear(config, scope), low_rank_(config.rank > 0) {
  const auto weight = [&](std::string name, int64_t from, int64_t to) {
    return QuantizedWeight(this->scope(), params_of(config, this->scope()),
                           {.name = std::move(name),
                            .weight = {.shape = {from, to}, .split = weight_split("wt")},
                            .equation = "...y,yz->...z"});
  };
  if (low_rank_) {
    w_a_ = weight("w_a", config.input_dims, config.rank);
    w_b_ = weight("w_b", config.rank, config.output_dims);
  } else {
    w_ = weight("w", config.input_dims, config.output_dims);
  }
}

Tensor QuantizedLinear::fprop(Tensor x) const {
  constexpr std::string_view kEquation = "...y,yz->...z";
  const DType dtype = x.dtype();
  const Tensor y =
      low_rank_ ? w_b_.einsum(kEquation, w_a_.einsum(kEquation, x, dtype), dtype) : w_.einsum(kEquation, x, dtype);
  return shard_out(y);
}

Tensor QuantizedLinear::weight() const { fail("a quantised layer has no float weight to share"); }

QuantizedAttentionProjection::QuantizedAttentionProjection(const Config& config, const Scope& scope)
    : AttentionProjection(config, scope, Weight::kOfDerived) {
  const int64_t d = config.input_dim, n = config.num_heads, h = config.dim_per_head;
  const bool heads_first = config.is_output_projection && config.use_nhd_shape;
  const std::string_view equation = !config.is_output_projection ? "...d,dnh->...nh"
                                    : heads_first                ? "...nh,nhd->...d"
                                                                 : "...nh,dnh->...d";
  weight_ = QuantizedWeight(
      this->scope(), params_of(config, this->scope()),
      {.weight = weight_spec(),
       .equation = std::string(equation),
       .reshape = uncombined(config.attention_combine_dims, config.quantization,
                             heads_first ? std::vector{n, h, d} : std::vector{d, n, h}, this->scope())});
}

Tensor QuantizedAttentionProjection::product(std::string_view equation, Tensor x) const {
  return weight_.einsum(equation, x, x.dtype());
}

QuantizedCombinedQKVProjectionLayer::QuantizedCombinedQKVProjectionLayer(const Config& config, const Scope& scope)
    : CombinedQKVProjectionLayer(config, scope, Weight::kOfDerived) {
  weight_ = QuantizedWeight(
      this->scope(), params_of(config, this->scope()),
      {.weight = weight_spec(),
       .equation = "...d,kdnh->k...nh",
       .reshape = uncombined(config.attention_combine_dims, config.quantization,
                             {3, config.input_dim, config.num_heads, config.dim_per_head}, this->scope()),
       .pack_dim = 1,
       .one_activation_scale = true});
}

Tensor QuantizedCombinedQKVProjectionLayer::product(std::string_view equation, Tensor x) const {
  return weight_.einsum(equation, x, x.dtype());
}

template const config::ConfigType& config::type_of<QuantizedLinear::Config>();
template const config::ConfigType& config::type_of<QuantizedAttentionProjection::Config>();
template const config::ConfigType& config::type_of<QuantizedCombinedQKVProjectionLayer::Config>();

}  // namespace pax
