#include "pax/layers/attention/local_self_attention.h"

#include <algorithm>
#include <cmath>

#include "pax/base/error.h"
#include "pax/layers/attention/masks.h"
#include "pax/ops/broadcast.h"
#include "pax/ops/constant.h"
#include "pax/ops/convert.h"
#include "pax/ops/dot.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/gather.h"
#include "pax/ops/identity.h"
#include "pax/ops/logic.h"
#include "pax/ops/reshape.h"
#include "pax/ops/slice.h"

namespace pax {
namespace {

BlockSizes block_sizes(const LocalSelfAttention::Config& config, const Scope& scope) {
  if (config.simulated) return {};
  if (!config.left_context || !config.right_context) {
    fail<ConfigError>("{}: left_context and right_context must be set, unless simulated", scope.path());
  }
  const int64_t left = *config.left_context, right = *config.right_context;
  return {.block = config.block_size.value_or(std::max({int64_t{1}, right, left - 1})), .left = left, .right = right};
}

}  // namespace

LocalSelfAttention::LocalSelfAttention(const Config& config, const Scope& scope)
    : DotProductAttention(config, scope),
      left_(config.left_context),
      right_(config.right_context),
      simulated_(config.simulated),
      sizes_(block_sizes(config, scope)) {}

Tensor LocalSelfAttention::logits(Tensor query, Tensor key) const {
  if (simulated_) return DotProductAttention::logits(query, key);
  return einsum("buwnh,bucnh->bnuwc", query, key);
}

Tensor LocalSelfAttention::masks_of_blocks(Tensor mask, int64_t queries) const {
  const double masked = large_negative_number(mask.dtype());
  const Tensor near = band(graph(), sizes_, mask.dtype(), masked);
  Tensor blocks;  // [1|B, U, 1|W, C]
  if (mask.dim(2) == 1) {
    // Rows that only fill up the last block see nothing.
    const Tensor rows = to_blocks(full(graph(), {mask.dtype(), {1, queries}}, 0), sizes_.block, masked);
    blocks = minimum(expand_dims(block_contexts(squeeze(mask, {1, 2}), sizes_, masked), 2), expand_dims(rows, 3));
  } else {
    blocks = block_mask(squeeze(mask, {1}), sizes_, masked);
  }
  return expand_dims(minimum(blocks, near), 1);
}

DotProductAttention::Context LocalSelfAttention::attend(const Heads& heads) const {
  if (simulated_) {
    Heads near = heads;
    near.mask = minimum(heads.mask, limited_context_mask(graph(), {left_, right_}, heads.query.dim(1), heads.key.dim(1),
                                                         heads.mask.dtype()));
    return DotProductAttention::attend(near);
  }
  if (heads.relative_bias) fail("local attention does not take relative_bias_tpl");
  const Tensor key = shard(heads.key, "blnh");
  const Tensor value = shard(heads.value, "blnh");
  const Tensor query = scale_query(shard(heads.query, "blnh"));
  const int64_t t = query.dim(1);
  const Tensor mask = masks_of_blocks(heads.mask, t);  // [1|B, 1, U, W, C]
  Tensor scores = logits(to_blocks(query, sizes_.block), block_contexts(key, sizes_));
  scores = checkpoint_name(scores, "logits");
  const Tensor probs = drop(probabilities(scores, mask, key.dtype()));
  Tensor encoded = einsum("bnuwc,bucnh->buwnh", probs, block_contexts(value, sizes_));
  if (config().zero_fully_masked) {
    const Tensor seen = sees_something(mask, encoded.dtype());  // [1|B, 1, U, W]
    encoded = encoded * expand_dims(expand_dims(squeeze(seen, {1}), -1), -1);
  }
  encoded = slice_dim(merge_dims(encoded, 1, 2), 1, 0, t);
  return {.encoded = shard(checkpoint_name(encoded, "context"), "blnh"), .probs = probs};
}

Tensor near_in_step(Tensor mask, Tensor time_step, std::optional<int64_t> left, std::optional<int64_t> right) {
  Graph& graph = mask.graph();
  const Tensor ahead = iota(graph, {DType::kS32, {1, 1, mask.dim(2)}}, 2) - step_of_rows(time_step, 3);
  Tensor near = full(graph, {DType::kPred, {}}, 1);
  if (left) near = logical_and(near, gt(ahead, static_cast<double>(-*left)));
  if (right) near = logical_and(near, le(ahead, static_cast<double>(*right)));
  return select(near, mask, large_negative_number(mask.dtype()));
}

Tensor LocalSelfAttention::mask_one_step(Tensor mask, Tensor time_step) const {
  return near_in_step(mask, time_step, left_, right_);
}

LocalSelfAttentionXL::LocalSelfAttentionXL(const Config& config, const Scope& scope)
    : LocalSelfAttention(config, scope), positions_(xl_positions(config.rel_pos_emb_dim)) {
  if (config.simulated) pax::fail<ConfigError>("{}: simulated is not for this layer", scope.path());
}

Tensor LocalSelfAttentionXL::logits(Tensor query, Tensor key) const {
  const int64_t b = query.dim(0), u = query.dim(1), w = query.dim(2), n = query.dim(3), c = key.dim(2);
  const int64_t f = sizes().left + sizes().right;
  const Tensor distances = static_cast<double>(sizes().left - 1) - iota(graph(), {DType::kS32, {f}}, 0);
  const Tensor content = einsum("buwnh,bucnh->bnuwc", positions_.for_content(query), key);
  Tensor position = einsum("buwnh,fnh->bnuwf", positions_.for_position(query), positions_.embed(distances));
  // Row i moves i places to the right: rows of length C + 1 read as rows of length C.
  position = reshape(pad_dim(position, 4, 0, c - f + 1), {b, n, u, w * (c + 1)});
  return content + reshape(slice_dim(position, 3, 0, w * c), {b, n, u, w, c});
}

Tensor LocalSelfAttentionXL::logits_one_step(Tensor query_bnh, Tensor key_bsnh, Tensor time_step) const {
  require_one_step(time_step);
  const Tensor distances = time_step - iota(graph(), {DType::kS32, {key_bsnh.dim(1)}}, 0);
  return einsum("bnh,bsnh->bns", positions_.for_content(query_bnh), key_bsnh) +
         einsum("bnh,snh->bns", positions_.for_position(query_bnh), positions_.embed(distances));
}

LocalSelfAttentionRelativeBias::LocalSelfAttentionRelativeBias(const Config& config, const Scope& scope)
    : LocalSelfAttention(config, scope) {
  if (config.simulated || sizes().block < 2) {
    pax::fail<ConfigError>("{}: this layer needs simulated to be off and block_size (is {}) to be 2 or more",
                           scope.path(), sizes().block);
  }
  pos_emb_compressed_ =
      param("pos_emb_compressed", {.shape = {config.num_heads, sizes().context() + sizes().block - 1}});
}

Tensor LocalSelfAttentionRelativeBias::logits(Tensor query, Tensor key) const {
  const int64_t w = sizes().block, c = sizes().context(), n = config().num_heads, p = c + w - 1;
  // Row i begins one place further left than row i - 1: W copies of P entries read as rows of P - 1.
  Tensor bias = reshape(broadcast_to(expand_dims(pos_emb_compressed_, 1), {n, w, p}), {n, w * p});
  bias = reshape(slice_dim(bias, 1, 0, w * (p - 1)), {n, w, p - 1});
  return LocalSelfAttention::logits(query, key) + expand_dims(slice_dim(bias, 2, w - 2, p - 1), 1);
}

Tensor LocalSelfAttentionRelativeBias::logits_one_step(Tensor query_bnh, Tensor key_bsnh, Tensor time_step) const {
  require_one_step(time_step);
  // As above, entry W - 2 + d, where d counts from the first position that is seen.
  const Tensor ahead = iota(graph(), {DType::kS32, {key_bsnh.dim(1)}}, 0) - time_step;
  const Tensor entry = ahead + static_cast<double>(sizes().block - 2 + sizes().left - 1);
  return LocalSelfAttention::logits_one_step(query_bnh, key_bsnh, time_step) + take(pos_emb_compressed_, entry, 1);
}

Tensor LocalSelfAttentionAlibi::slopes(DType dtype) const {
  const int64_t heads = config().num_heads;
  int64_t power = 1;
  while (2 * power <= heads) power *= 2;
  std::vector<double> values;
  for (int64_t i = 1; i <= power; ++i) values.push_back(std::pow(2.0, -8.0 * static_cast<double>(i) / power));
  for (int64_t i = 0; i < heads - power; ++i) {
    values.push_back(std::pow(2.0, -4.0 * static_cast<double>(2 * i + 1) / power));
  }
  return constant(graph(), from_doubles(values, {dtype, {heads, 1, 1}}));
}

Tensor LocalSelfAttentionAlibi::logits(Tensor query, Tensor key) const {
  const int64_t w = sizes().block;
  const TensorType index{DType::kS32, {w, sizes().context()}};
  const Tensor distance = iota(graph(), index, 1) - iota(graph(), index, 0) + static_cast<double>(w - 1);
  const Tensor bias = slopes(query.dtype()) * convert(distance, query.dtype());  // [N, W, C]
  return LocalSelfAttention::logits(query, key) + expand_dims(bias, 1);
}

Tensor LocalSelfAttentionAlibi::logits_one_step(Tensor query_bnh, Tensor key_bsnh, Tensor time_step) const {
  // The same up to a constant of the row, which softmax does not see.
  const Tensor ahead = iota(graph(), {DType::kS32, {1, key_bsnh.dim(1)}}, 1) - step_of_rows(time_step, 3);
  const Tensor slope = squeeze(slopes(query_bnh.dtype()), {2});
  return LocalSelfAttention::logits_one_step(query_bnh, key_bsnh, time_step) + slope * convert(ahead, slope.dtype());
}

template const config::ConfigType& config::type_of<LocalSelfAttention::Config>();
template const config::ConfigType& config::type_of<LocalSelfAttentionXL::Config>();
template const config::ConfigType& config::type_of<LocalSelfAttentionRelativeBias::Config>();
template const config::ConfigType& config::type_of<LocalSelfAttentionAlibi::Config>();

}  // namespace pax
