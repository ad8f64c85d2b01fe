#include "pax/layers/positions.h"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "pax/base/error.h"
#include "pax/ops/broadcast.h"
#include "pax/ops/constant.h"
#include "pax/ops/convert.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/logic.h"
#include "pax/ops/reshape.h"
#include "pax/ops/slice.h"

namespace pax {
namespace {

/// `value(0)`, ..., `value(size - 1)` as a constant of f32[size].
Tensor table(Graph& graph, int64_t size, const auto& value) {
  std::vector<float> values;
  for (int64_t i = 0; i < size; ++i) values.push_back(static_cast<float>(value(static_cast<double>(i))));
  return constant(graph, HostArray::of<float>(std::span<const float>(values), Shape{size}));
}

/// sin and cos of every product of `a` and `b`, along a new last dimension.
Tensor sinusoids(Tensor positions, Tensor frequencies) {
  const Tensor angles = expand_dims(positions, -1) * frequencies;
  return concatenate({sine(angles), cosine(angles)}, -1);
}

}  // namespace

Tensor BasePositionalEmbedding::positions(std::optional<int64_t> seq_length, Tensor position_bt) const {
  if (position_bt) {
    if (position_bt.rank() != 2)
      fail(fmt::format("positions are {}; they must be [B, T]", to_string(position_bt.type())));
    return position_bt;
  }
  if (!seq_length) fail("neither a sequence length nor positions are given");
  return iota(graph(), {DType::kS32, {1, *seq_length}}, 1);
}

PositionalEmbedding::PositionalEmbedding(const Config& config, const Scope& scope)
    : BasePositionalEmbedding(config, scope), config_(config) {}

Tensor PositionalEmbedding::embed(std::optional<int64_t> seq_length, Tensor position_bt) const {
  const Tensor time = convert(positions(seq_length, position_bt), DType::kF32);
  const int64_t count = config_.embedding_dims / 2;
  const auto low = static_cast<double>(config_.min_timescale);
  const double step =
      std::log(static_cast<double>(config_.max_timescale) / low) / std::max(static_cast<double>(count) - 1.0, 1.0);
  const Tensor frequencies = table(graph(), count, [&](double i) { return low * std::exp(-i * step); });
  const Tensor signal = convert(sinusoids(time, frequencies), fprop_dtype());
  return config_.embedding_dims % 2 == 0 ? signal : pad_dim(signal, -1, 0, 1);
}

TrainablePositionalEmbedding::TrainablePositionalEmbedding(const Config& config, const Scope& scope)
    : BasePositionalEmbedding(config, scope),
      lookup_style_(config.lookup_style),
      emb_var_(
          param("emb_var", {.shape = {config.max_seq_length, config.embedding_dims}, .split = weight_split("wt")})),
      array_lookup_(child("array_lookup", config.array_lookup_tpl)),
      einsum_(child("einsum", config.einsum_tpl)) {}

Tensor TrainablePositionalEmbedding::embed(std::optional<int64_t> seq_length, Tensor position_bt) const {
  const Tensor position = positions(seq_length, position_bt);
  // By index without a length, positions may lie anywhere in the table.
  int64_t rows = emb_var_.dim(0);
  if (seq_length) rows = *seq_length;
  if (!seq_length && lookup_style_ == LookupStyle::kMatmul) rows = position.dim(1);
  if (rows > emb_var_.dim(0)) {
    fail(fmt::format("the sequence has {} positions, the table {}; raise max_seq_length", rows, emb_var_.dim(0)));
  }
  const Tensor used = slice_dim(emb_var_, 0, 0, rows);
  const Tensor embeddings = TableLookup{*array_lookup_, *einsum_}(lookup_style_, used, position);
  return shard(embeddings, "emb_out_split_dims_mapping");
}

PositionalEmbedding2D::PositionalEmbedding2D(const Config& config, const Scope& scope)
    : BasePositionalEmbedding(config, scope), config_(config) {
  if (config.embedding_dims % 4 != 0) {
    pax::fail<ConfigError>(
        "{}: embedding_dims is {}; rows and columns take a sine and a cosine half each, so it must be "
        "a multiple of 4",
        scope.path(), config.embedding_dims);
  }
}

Tensor PositionalEmbedding2D::embed(std::optional<int64_t>, Tensor) const {
  const int64_t h = config_.h, w = config_.w, d = config_.embedding_dims;
  const Tensor frequencies =
      table(graph(), d / 4, [&](double i) { return std::pow(10'000.0, -i / static_cast<double>(d / 4)); });
  const auto along = [&](int64_t size) {
    const Tensor places = table(graph(), size, [&](double i) { return i - static_cast<double>(size) / 2; });
    return sinusoids(places, frequencies);
  };
  const Shape half{h, w, d / 2};
  const Tensor grid =
      concatenate({broadcast_in_dim(along(h), half, {0, 2}), broadcast_in_dim(along(w), half, {1, 2})}, -1);
  const Tensor rows = reshape(grid, {1, h * w, d});
  return pad_dim(rows, 1, config_.num_prepend_cls_tokens, config_.num_append_cls_tokens);
}

RotaryPositionalEmbedding::RotaryPositionalEmbedding(const Config& config, const Scope& scope)
    : Layer(config, scope), config_(config) {
  if (config.embedding_dims % 2 != 0) {
    pax::fail<ConfigError>("{}: embedding_dims is {}; rotary embedding turns pairs, so it must be even", scope.path(),
                           config.embedding_dims);
  }
}

Tensor RotaryPositionalEmbedding::fprop(Tensor x, Tensor position_bt) const {
  if (x.rank() != 3 && x.rank() != 4) {
    fail(fmt::format("input is {}; it must be [B, T, N, H] or [B, T, H]", to_string(x.type())));
  }
  const int64_t dims = config_.embedding_dims;
  if (x.dim(-1) != dims) {
    fail(fmt::format("embedding_dims is {}, but the last axis of input {} has {}", dims, to_string(x.type()),
                     x.dim(-1)));
  }
  const auto low = static_cast<double>(config_.min_timescale);
  const auto high = static_cast<double>(config_.max_timescale);
  const Tensor timescale =
      table(graph(), dims / 2, [&](double i) { return low * std::pow(high / low, 2 * i / static_cast<double>(dims)); });
  if (!position_bt) position_bt = iota(graph(), {DType::kS32, {1, x.dim(1)}}, 1);
  Tensor position = expand_dims(convert(position_bt, DType::kF32), -1);
  if (x.rank() == 4) position = expand_dims(position, -1);
  const Tensor angle = position / timescale;
  const Tensor sin = sine(angle), cos = cosine(angle);
  const std::vector<Tensor> halves = split(convert(x, DType::kF32), -1, 2);
  const Tensor turned = concatenate({halves[0] * cos - halves[1] * sin, halves[1] * cos + halves[0] * sin}, -1);
  return config_.cast_as_fprop_dtype ? convert(turned, fprop_dtype()) : turned;
}

Tensor RotaryPositionalEmbedding::extend_step(Tensor x, Tensor position) const {
  const bool one_step = x.rank() == 2 || x.rank() == 3;
  const Tensor x_bp = one_step ? expand_dims(x, 1) : x;
  const int64_t batch = x_bp.dim(0), steps = x_bp.dim(1);
  const Tensor last = reshape(broadcast_to(convert(position, DType::kS32), {batch}), {batch, 1});
  const Tensor before = (steps - 1.0) - iota(graph(), {DType::kS32, {1, steps}}, 1);
  const Tensor y = fprop(x_bp, maximum(last - before, 0.0));
  return one_step ? squeeze(y, {1}) : y;
}

template const config::ConfigType& config::type_of<PositionalEmbedding::Config>();
template const config::ConfigType& config::type_of<TrainablePositionalEmbedding::Config>();
template const config::ConfigType& config::type_of<PositionalEmbedding2D::Config>();
template const config::ConfigType& config::type_of<RotaryPositionalEmbedding::Config>();

}  // namespace pax
