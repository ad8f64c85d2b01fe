#include "pax/layers/scaled_rotary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "pax/base/error.h"
#include "pax/ops/constant.h"
#include "pax/ops/convert.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/logic.h"
#include "pax/ops/reduce.h"
#include "pax/ops/reshape.h"
#include "pax/ops/slice.h"

namespace pax {
namespace {

using Config = ScaledRotaryPositionalEmbedding::Config;

Tensor table(Graph& graph, const std::vector<double>& values) {
  return constant(graph, from_doubles(values, {DType::kF32, {static_cast<int64_t>(values.size())}}));
}

/// Llama 3: long waves are stretched, short ones are not, those between by degrees.
double llama3_frequency(const Config& config, double frequency) {
  const auto length = static_cast<double>(config.original_max_positions);
  const double wavelength = 2 * std::numbers::pi / frequency;
  if (wavelength < length / config.high_freq_factor) return frequency;
  if (wavelength > length / config.low_freq_factor) return frequency / config.factor;
  const double smooth =
      (length / wavelength - config.low_freq_factor) / (config.high_freq_factor - config.low_freq_factor);
  return (1 - smooth) * frequency / config.factor + smooth * frequency;
}

/// YaRN: the share of its own frequency that each pair keeps.
std::vector<double> yarn_kept(const Config& config, int64_t dims) {
  const auto d = static_cast<double>(dims);
  const auto pair_that_turns = [&](double times) {
    const double length = static_cast<double>(config.original_max_positions);
    return d * std::log(length / (times * 2 * std::numbers::pi)) / (2 * std::log(config.theta));
  };
  double low = pair_that_turns(config.beta_fast), high = pair_that_turns(config.beta_slow);
  if (config.truncate) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::max(low, 0.0);
  high = std::min(high, d - 1);
  if (low == high) high += 0.001;
  std::vector<double> kept;
  for (int64_t i = 0; i < dims / 2; ++i) {
    kept.push_back(1 - std::clamp((static_cast<double>(i) - low) / (high - low), 0.0, 1.0));
  }
  return kept;
}

/// The length of the longest row so far: largest position + 1, f32.
Tensor row_length(Tensor position_bt) { return reduce_max(convert(position_bt, DType::kF32)) + 1.0; }

}  // namespace

std::span<const std::pair<RopeScaling, std::string_view>> enum_names(RopeScaling) {
  static constexpr std::pair<RopeScaling, std::string_view> kNames[] = {
      {RopeScaling::kNone, "none"}, {RopeScaling::kLinear, "linear"}, {RopeScaling::kDynamic, "dynamic"},
      {RopeScaling::kYarn, "yarn"}, {RopeScaling::kLlama3, "llama3"}, {RopeScaling::kLongrope, "longrope"},
  };
  return kNames;
}

std::vector<double> rotary_frequencies(const Config& config, int64_t dims, std::span<const double> factors) {
  std::vector<double> out;
  for (int64_t i = 0; i < dims / 2; ++i) {
    const double frequency = std::pow(config.theta, -2.0 * static_cast<double>(i) / static_cast<double>(dims));
    out.push_back(factors.empty() ? frequency : frequency / factors[static_cast<size_t>(i)]);
  }
  if (config.scaling == RopeScaling::kLinear) {
    for (double& frequency : out) frequency /= config.factor;
  } else if (config.scaling == RopeScaling::kLlama3) {
    for (double& frequency : out) frequency = llama3_frequency(config, frequency);
  } else if (config.scaling == RopeScaling::kYarn) {
    const std::vector<double> kept = yarn_kept(config, dims);
    for (size_t i = 0; i < out.size(); ++i) out[i] *= kept[i] + (1 - kept[i]) / config.factor;
  }
  return out;
}

ScaledRotaryPositionalEmbedding::ScaledRotaryPositionalEmbedding(const Config& config, const Scope& scope)
    : RotaryPositionalEmbedding(config, scope),
      config_(config),
      dims_(config.rotary_dims == 0 ? config.embedding_dims : config.rotary_dims) {
  if (dims_ % 2 != 0 || dims_ > config.embedding_dims) {
    pax::fail<ConfigError>("{}: rotary_dims is {}; it must be even and at most embedding_dims {}", scope.path(), dims_,
                           config.embedding_dims);
  }
  const bool by_length = config.scaling != RopeScaling::kNone && config.scaling != RopeScaling::kLinear;
  if (by_length && config.original_max_positions <= 0) {
    pax::fail<ConfigError>("{}: this scaling needs original_max_positions", scope.path());
  }
  const auto pairs = static_cast<size_t>(dims_ / 2);
  if (config.scaling == RopeScaling::kLongrope &&
      (config.short_factor.size() != pairs || config.long_factor.size() != pairs)) {
    pax::fail<ConfigError>("{}: longrope needs {} numbers each in short_factor (has {}) and long_factor (has {})",
                           scope.path(), pairs, config.short_factor.size(), config.long_factor.size());
  }
}

Tensor ScaledRotaryPositionalEmbedding::frequencies(Tensor position_bt) const {
  Graph& graph = this->graph();
  const auto original = static_cast<double>(config_.original_max_positions);
  if (config_.scaling == RopeScaling::kLongrope) {
    return select(gt(row_length(position_bt), original),
                  table(graph, rotary_frequencies(config_, dims_, config_.long_factor)),
                  table(graph, rotary_frequencies(config_, dims_, config_.short_factor)));
  }
  if (config_.scaling != RopeScaling::kDynamic) return table(graph, rotary_frequencies(config_, dims_));
  const auto d = static_cast<double>(dims_);
  const Tensor length = maximum(row_length(position_bt), original);
  const Tensor grown = length * (config_.factor / original) - (config_.factor - 1.0);
  const Tensor log_base = log(grown) * (d / (d - 2)) + std::log(config_.theta);
  std::vector<double> exponents;
  for (int64_t i = 0; i < dims_ / 2; ++i) exponents.push_back(-2.0 * static_cast<double>(i) / d);
  return exp(table(graph, exponents) * log_base);
}

Tensor ScaledRotaryPositionalEmbedding::fprop(Tensor x, Tensor position_bt) const {
  if ((x.rank() != 3 && x.rank() != 4) || x.dim(-1) != config_.embedding_dims) {
    fail(fmt::format("input is {}; it must be [B, T, N, {}] or [B, T, {}]", to_string(x.type()), config_.embedding_dims,
                     config_.embedding_dims));
  }
  if (!position_bt) position_bt = iota(graph(), {DType::kS32, {1, x.dim(1)}}, 1);
  Tensor position = expand_dims(convert(position_bt, DType::kF32), -1);
  if (x.rank() == 4) position = expand_dims(position, -1);
  const Tensor angle = position * frequencies(position_bt);
  const Tensor sin = sine(angle) * config_.attention_factor, cos = cosine(angle) * config_.attention_factor;
  const Tensor wide = convert(x, DType::kF32);
  const int64_t half = dims_ / 2, all = config_.embedding_dims;
  const Tensor first = slice_dim(wide, -1, 0, half), second = slice_dim(wide, -1, half, dims_);
  std::vector<Tensor> parts{first * cos - second * sin, second * cos + first * sin};
  if (dims_ < all) parts.push_back(slice_dim(wide, -1, dims_, all));
  const Tensor turned = concatenate(parts, -1);
  return config_.cast_as_fprop_dtype ? convert(turned, fprop_dtype()) : turned;
}

template const config::ConfigType& config::type_of<ScaledRotaryPositionalEmbedding::Config>();

}  // namespace pax
