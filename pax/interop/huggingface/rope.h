#pragma once

#include "pax/interop/huggingface/hf_config.h"
#include "pax/layers/scaled_rotary.h"

namespace pax::hf {

/// What a family says of rotary positions where the config is silent.
struct RopeDefaults {
  double theta = 10'000.0;
  double partial = 1.0;  ///< share of a head's dimensions that turn
  int64_t max_positions = 2048;
  std::optional<int64_t> original_max_positions{};
  std::string_view theta_key = "rope_theta", partial_key = "partial_rotary_factor";
};

/// Rotary positions from `rope_parameters`, or from `rope_theta` and `rope_scaling` of older configs.
ScaledRotaryPositionalEmbedding::Config rope_of(const HfConfig& config, int64_t head_dim, const RopeDefaults& defaults);

}  // namespace pax::hf
