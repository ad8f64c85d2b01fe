#include "pax/layers/attention/dot_product_attention_xl.h"

#include "pax/base/error.h"
#include "pax/layers/split_dims.h"
#include "pax/ops/constant.h"
#include "pax/ops/dot.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/reshape.h"
#include "pax/ops/slice.h"

namespace pax {

Tensor XlPositions::embed(Tensor distance) const {
  const Tensor sinusoids = pos_emb->embed({}, expand_dims(distance, 0));
  const Tensor projected = pos_proj->fprop(sinusoids);
  return squeeze(projected, {0});
}

Tensor XlPositions::for_content(Tensor query) const { return u ? query + u : query; }

Tensor XlPositions::for_position(Tensor query) const { return v ? query + v : query; }

XlPositions DotProductAttention::xl_positions(int64_t rel_pos_emb_dim) const {
  if (rel_pos_emb_dim <= 0) {
    pax::fail<ConfigError>("{}: rel_pos_emb_dim is {}; set it to 1 or more", scope().path(), rel_pos_emb_dim);
  }
  XlPositions positions;
  PositionalEmbedding::Config sinusoids;
  sinusoids.embedding_dims = rel_pos_emb_dim;
  positions.pos_emb = child("pos_emb", Tpl<BasePositionalEmbedding>(sinusoids));
  auto projection = config_.proj_tpl.clone_unshared();
  projection.set("input_dim", rel_pos_emb_dim);
  projection.set("num_heads", config_.num_heads);
  projection.set("dim_per_head", head_dim_);
  projection.set("use_bias", false);
  set_weight_split(projection, "wt", weight_split("proj"));
  positions.pos_proj = child("pos_proj", projection);
  if (config_.use_bias) {
    const ParamSpec spec{.shape = {config_.num_heads, head_dim_}, .init = WeightInit::constant(0.0)};
    positions.u = param("u", spec);
    positions.v = param("v", spec);
  }
  return positions;
}

DotProductAttentionXL::DotProductAttentionXL(const Config& config, const Scope& scope)
    : DotProductAttention(config, scope), positions_(xl_positions(config.rel_pos_emb_dim)) {}

Tensor DotProductAttentionXL::logits(Tensor query_btnh, Tensor key_bsnh) const {
  if (query_btnh.shape() != key_bsnh.shape()) fail("this layer is for self-attention: as many keys as queries");
  const int64_t b = query_btnh.dim(0), t = query_btnh.dim(1), n = query_btnh.dim(2), l = 2 * t - 1;
  const Tensor distances = iota(graph(), {DType::kS32, {l}}, 0) - static_cast<double>(t - 1);
  const Tensor content = einsum("btnh,bsnh->bnts", positions_.for_content(query_btnh), key_bsnh);
  Tensor position = einsum("btnh,lnh->bntl", positions_.for_position(query_btnh), positions_.embed(distances));
  // Row i shall hold the distances i, i - 1, …, i - T + 1: rows of length L read as rows of length L + 1 move one place
  // a row.
  position = pad_dim(reshape(position, {b, n, t * l}), 2, 0, t);
  position = reverse(slice_dim(reshape(position, {b, n, t, l + 1}), 3, 0, t), {3});
  return content + position;
}

Tensor DotProductAttentionXL::logits_one_step(Tensor query_bnh, Tensor key_bsnh, Tensor time_step) const {
  require_one_step(time_step);
  const Tensor distances = time_step - iota(graph(), {DType::kS32, {key_bsnh.dim(1)}}, 0);
  return einsum("bnh,bsnh->bns", positions_.for_content(query_bnh), key_bsnh) +
         einsum("bnh,snh->bns", positions_.for_position(query_bnh), positions_.embed(distances));
}

template const config::ConfigType& config::type_of<DotProductAttentionXL::Config>();

}  // namespace pax
