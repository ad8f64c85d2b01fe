#include "pax/layers/attention/projections.h"

#include <fmt/format.h>

#include "pax/layers/split_dims.h"
#include "pax/ops/convert.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/identity.h"
#include "pax/ops/reshape.h"
#include "pax/ops/slice.h"

namespace pax {
namespace {

ParamSpec bias_spec(Shape shape, Axes split) {
  return {.shape = std::move(shape), .init = WeightInit::constant(0.0), .split = std::move(split)};
}

}  // namespace

AttentionProjection::AttentionProjection(const Config& config, const Scope& scope)
    : AttentionProjection(config, scope, Weight::kOwn) {}

AttentionProjection::AttentionProjection(const Config& config, const Scope& scope, Weight weight)
    : Layer(config, scope), config_(config), einsum_(child("einsum", config.einsum_tpl)) {
  if (weight == Weight::kOwn) w_ = param("w", weight_spec());
  if (!config.use_bias) return;
  const int64_t d = config.input_dim, n = config.num_heads, h = config.dim_per_head;
  const Axes wt = weight_split("wt");
  if (config.is_output_projection) {
    b_ = param("b", bias_spec({d}, pick(wt, {0}, this->scope().path())));
  } else {
    b_ = param("b", bias_spec({n, h}, pick(wt, {1, 2}, this->scope().path())));
  }
}

ParamSpec AttentionProjection::weight_spec() const {
  const int64_t d = config_.input_dim, n = config_.num_heads, h = config_.dim_per_head;
  const bool heads_first = config_.is_output_projection && config_.use_nhd_shape;
  const Axes wt = weight_split("wt");
  ParamSpec spec{.shape = heads_first ? Shape{n, h, d} : Shape{d, n, h}, .split = wt};
  if (config_.explicit_fan_in_fan_out_axes) {
    spec.fan_in_axes = {heads_first ? 2 : 0};
    spec.fan_out_axes = heads_first ? std::vector<int64_t>{1, 0} : std::vector<int64_t>{2, 1};
  }
  if (!config_.attention_combine_dims) return spec;
  spec.shape = heads_first ? Shape{n * h, d} : Shape{d, n * h};
  if (wt.size() == 3) spec.split = merge(wt, heads_first ? 0 : 1);
  if (config_.explicit_fan_in_fan_out_axes) {
    spec.fan_in_axes = {heads_first ? 1 : 0};
    spec.fan_out_axes = {heads_first ? 0 : 1};
  }
  return spec;
}

Tensor AttentionProjection::product(std::string_view equation, Tensor x) const {
  const bool heads_first = config_.is_output_projection && config_.use_nhd_shape;
  Tensor w = w_;
  if (config_.attention_combine_dims) w = split_dim(w, heads_first ? 0 : 1, {config_.num_heads, config_.dim_per_head});
  return einsum_->einsum(equation, x, w);
}

Tensor AttentionProjection::fprop(Tensor x) const {
  const bool heads_first = config_.is_output_projection && config_.use_nhd_shape;
  x = convert(x, fprop_dtype());
  Tensor y;
  if (!config_.is_output_projection) {
    y = product("...d,dnh->...nh", x);
  } else {
    y = product(heads_first ? "...nh,nhd->...d" : "...nh,dnh->...d", x);
  }
  return b_ ? y + b_ : y;
}

CombinedQKVProjectionLayer::CombinedQKVProjectionLayer(const Config& config, const Scope& scope)
    : CombinedQKVProjectionLayer(config, scope, Weight::kOwn) {}

CombinedQKVProjectionLayer::CombinedQKVProjectionLayer(const Config& config, const Scope& scope, Weight weight)
    : Layer(config, scope), config_(config), einsum_(child("einsum", config.einsum_tpl)) {
  const ParamSpec spec = weight_spec();
  if (weight == Weight::kOwn) w_ = param("w", spec);
  if (!config.use_bias) return;
  Axes split = spec.split;
  if (!split.empty()) split.erase(split.begin() + 1);
  const int64_t n = config.num_heads, h = config.dim_per_head;
  b_ = param("b", bias_spec(config.attention_combine_dims ? Shape{3, n * h} : Shape{3, n, h}, split));
}

ParamSpec CombinedQKVProjectionLayer::weight_spec() const {
  const int64_t d = config_.input_dim, n = config_.num_heads, h = config_.dim_per_head;
  Axes wt = weight_split("wt");
  if (config_.attention_combine_dims && wt.size() == 3) wt = merge(wt, 1);
  if (!wt.empty()) wt.insert(wt.begin(), std::vector<std::string>{});
  ParamSpec spec{.shape = {3, d, n, h}, .split = wt};
  if (config_.attention_combine_dims) spec.shape = {3, d, n * h};
  if (config_.explicit_fan_in_fan_out_axes) {
    spec.fan_in_axes = {1};
    spec.fan_out_axes = config_.attention_combine_dims ? std::vector<int64_t>{2} : std::vector<int64_t>{3, 2};
  }
  return spec;
}

Tensor CombinedQKVProjectionLayer::product(std::string_view equation, Tensor x) const {
  Tensor w = w_;
  if (config_.attention_combine_dims) w = split_dim(w, 2, {config_.num_heads, config_.dim_per_head});
  return einsum_->einsum(equation, x, w);
}

CombinedQKVProjectionLayer::Heads CombinedQKVProjectionLayer::project(Tensor x) const {
  if (x.rank() < 2 || x.rank() > 4) fail("input must have one to three dimensions before its last");
  Tensor b = b_;
  if (b && config_.attention_combine_dims) b = split_dim(b, 1, {config_.num_heads, config_.dim_per_head});
  // k counts query, key and value; x has one to three dimensions in front.
  const std::string batch = std::string("btu").substr(0, static_cast<size_t>(x.rank()) - 1);
  Tensor all = product(fmt::format("{0}d,kdnh->k{0}nh", batch), x);
  all = checkpoint_name(all, "combined_qkv_proj");
  if (b) {
    for (int64_t i = 1; i < x.rank(); ++i) b = expand_dims(b, 1);
    all = all + b;
  }
  return {.query = checkpoint_name(index_dim(all, 0, 0), "query_proj"),
          .key = checkpoint_name(index_dim(all, 0, 1), "key_proj"),
          .value = checkpoint_name(index_dim(all, 0, 2), "value_proj")};
}

OneHeadedAttentionProjection::OneHeadedAttentionProjection(const Config& config, const Scope& scope)
    : Layer(config, scope),
      einsum_(child("einsum", config.einsum_tpl)),
      w_(param("w", {.shape = {config.input_dim, config.output_dim}, .split = weight_split("wt")})) {
  if (config.use_bias) {
    b_ = param("b", bias_spec({config.output_dim}, pick(weight_split("wt"), {1}, this->scope().path())));
  }
}

Tensor OneHeadedAttentionProjection::fprop(Tensor x) const {
  const Tensor y = einsum_->einsum("...d,dh->...h", convert(x, fprop_dtype()), w_);
  return b_ ? y + b_ : y;
}

template const config::ConfigType& config::type_of<AttentionProjection::Config>();
template const config::ConfigType& config::type_of<CombinedQKVProjectionLayer::Config>();
template const config::ConfigType& config::type_of<OneHeadedAttentionProjection::Config>();

}  // namespace pax
