#include "pax/interop/huggingface/rope.h"

#include <fmt/format.h>

#include <cmath>

namespace pax::hf {
namespace {

double yarn_scale(double factor, double mscale) { return factor <= 1 ? 1.0 : 0.1 * mscale * std::log(factor) + 1.0; }

RopeScaling scaling_of(const HfConfig& config, const HfConfig& rope, std::string_view type) {
  if (type == "default") return RopeScaling::kNone;
  if (type == "linear") return RopeScaling::kLinear;
  if (type == "dynamic") return RopeScaling::kDynamic;
  if (type == "llama3") return RopeScaling::kLlama3;
  if (type == "longrope" || type == "su") return RopeScaling::kLongrope;
  // Early Phi-3 files say yarn and mean longrope.
  if (type == "yarn") return config.model_type() == "phi3" ? RopeScaling::kLongrope : RopeScaling::kYarn;
  rope.fail("rope_type",
            fmt::format("\"{}\" is not supported; supported are default, linear, dynamic, yarn, llama3 and "
                        "longrope",
                        type));
}

void set_yarn(ScaledRotaryPositionalEmbedding::Config& out, const HfConfig& rope) {
  out.beta_fast = rope.real("beta_fast", 32);
  out.beta_slow = rope.real("beta_slow", 1);
  out.truncate = rope.flag("truncate", true);
  const double mscale = rope.real("mscale", 0), all = rope.real("mscale_all_dim", 0);
  out.attention_factor = mscale != 0 && all != 0 ? yarn_scale(out.factor, mscale) / yarn_scale(out.factor, all)
                                                 : yarn_scale(out.factor, 1);
}

void set_longrope(ScaledRotaryPositionalEmbedding::Config& out, const HfConfig& rope) {
  out.short_factor = rope.reals("short_factor");
  out.long_factor = rope.reals("long_factor");
  const auto original = static_cast<double>(out.original_max_positions);
  out.attention_factor = out.factor <= 1 ? 1.0 : std::sqrt(1 + std::log(out.factor) / std::log(original));
}

}  // namespace

ScaledRotaryPositionalEmbedding::Config rope_of(const HfConfig& config, int64_t head_dim,
                                                const RopeDefaults& defaults) {
  ScaledRotaryPositionalEmbedding::Config out;
  double theta = config.real(defaults.theta_key, defaults.theta);
  double partial = config.real(defaults.partial_key, defaults.partial);
  const int64_t longest = config.size("max_position_embeddings", defaults.max_positions);
  std::optional<HfConfig> rope = config.object("rope_scaling");
  if (!rope) rope = config.object("rope_parameters");
  if (rope) {
    theta = rope->real("rope_theta", theta);
    partial = rope->real("partial_rotary_factor", partial);
  }
  out.theta = theta;
  if (!(theta > 0)) config.fail(defaults.theta_key, "must be above 0");
  const auto turning = static_cast<int64_t>(static_cast<double>(head_dim) * partial);
  if (turning < 2 || turning > head_dim)
    config.fail(defaults.partial_key, fmt::format("{} of {} dimensions turn", turning, head_dim));
  if (turning != head_dim) out.rotary_dims = turning;
  if (!rope) return out;

  out.scaling = scaling_of(config, *rope, rope->text("rope_type", rope->text("type", "default")));
  if (out.scaling == RopeScaling::kNone) return out;
  // The length in pretraining is written in three places.
  int64_t original = rope->size("original_max_position_embeddings", longest);
  if (out.scaling == RopeScaling::kDynamic) original = longest;
  const std::optional<int64_t> own = config.has("original_max_position_embeddings")
                                         ? config.optional_size("original_max_position_embeddings")
                                         : defaults.original_max_positions;
  if (own && out.scaling != RopeScaling::kDynamic && out.scaling != RopeScaling::kLinear) original = *own;
  out.original_max_positions = original;
  out.factor = rope->real("factor", static_cast<double>(longest) / static_cast<double>(original));
  if (out.scaling == RopeScaling::kLlama3) {
    out.low_freq_factor = rope->real("low_freq_factor", 1);
    out.high_freq_factor = rope->real("high_freq_factor", 4);
  } else if (out.scaling == RopeScaling::kYarn) {
    set_yarn(out, *rope);
  } else if (out.scaling == RopeScaling::kLongrope) {
    set_longrope(out, *rope);
  }
  if (const auto given = rope->optional_real("attention_factor")) {
    if (out.scaling == RopeScaling::kYarn || out.scaling == RopeScaling::kLongrope) out.attention_factor = *given;
  }
  return out;
}

}  // namespace pax::hf
