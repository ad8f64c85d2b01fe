#pragma once

#include "pax/layers/positions.h"

namespace pax {

/// How rotary frequencies are stretched for rows longer than those of pretraining: not at all; all by one factor (Chen
/// et al. 2023); by a base that grows with the row; by wavelength between the two (YaRN, Peng et al. 2023; Llama 3); by
/// a factor for each, one set for short and one for long rows (LongRoPE, Ding et al. 2024).
enum class RopeScaling : uint8_t { kNone, kLinear, kDynamic, kYarn, kLlama3, kLongrope };
/// "none", "linear", "dynamic", "yarn", "llama3", "longrope".
std::span<const std::pair<RopeScaling, std::string_view>> enum_names(RopeScaling);

/// Rotary positions of which a part of a head's dimensions may be left as they are, with the frequencies that released
/// models use beyond the length they were trained on.
class ScaledRotaryPositionalEmbedding final : public RotaryPositionalEmbedding {
 public:
  struct Config : RotaryPositionalEmbedding::Config {
    using Product = ScaledRotaryPositionalEmbedding;
    static constexpr std::string_view kName = "pax.layers.ScaledRotaryPositionalEmbedding";
    static constexpr std::string_view kAliases[] = {"pax.layers.positions.ScaledRotaryPositionalEmbedding"};
    static constexpr std::string_view kDoc = "Rotary positions with scaled frequencies.";
    double theta = 10'000.0;
    int64_t rotary_dims = 0;
    RopeScaling scaling = RopeScaling::kNone;
    double factor = 1.0;
    double attention_factor = 1.0;
    int64_t original_max_positions = 0;
    double low_freq_factor = 1.0;
    double high_freq_factor = 4.0;
    double beta_fast = 32.0;
    double beta_slow = 1.0;
    bool truncate = true;
    std::vector<double> short_factor;
    std::vector<double> long_factor;
    static void fields(auto& self, auto&& visit) {
      RotaryPositionalEmbedding::Config::fields(self, visit);
      visit("theta", self.theta, "Base of the geometric series of wavelengths; in place of the timescales.");
      visit("rotary_dims", self.rotary_dims, "Dimensions of a head that turn, the first ones; 0: all.");
      visit("scaling", self.scaling);
      visit("factor", self.factor, "How much longer than in pretraining rows may be.");
      visit("attention_factor", self.attention_factor, "Queries and keys are multiplied by it as they turn.");
      visit("original_max_positions", self.original_max_positions, "Length of rows in pretraining.");
      visit("low_freq_factor", self.low_freq_factor, "llama3: longer waves than original / this are stretched.");
      visit("high_freq_factor", self.high_freq_factor, "llama3: shorter waves than original / this are not.");
      visit("beta_fast", self.beta_fast, "yarn: waves that turn more often in a row are not stretched.");
      visit("beta_slow", self.beta_slow, "yarn: waves that turn less often are stretched in full.");
      visit("truncate", self.truncate, "yarn: the two limits are whole dimensions.");
      visit("short_factor", self.short_factor, "longrope: of each frequency, in rows up to the original length.");
      visit("long_factor", self.long_factor, "longrope: of each frequency, in longer rows.");
    }
  };
  ScaledRotaryPositionalEmbedding(const Config& config, const Scope& scope);
  using RotaryPositionalEmbedding::fprop;
  Tensor fprop(Tensor x, Tensor position_bt) const override;

 private:
  /// Radians a position of each pair of dimensions: f32[pairs].
  Tensor frequencies(Tensor position_bt) const;

  const Config config_;
  const int64_t dims_;
};
extern template const config::ConfigType& config::type_of<ScaledRotaryPositionalEmbedding::Config>();

/// The frequencies of kinds that do not depend on the row: 1 / wavelength in radians, fastest first. `factors` (of
/// longrope) divide them, and may be empty.
std::vector<double> rotary_frequencies(const ScaledRotaryPositionalEmbedding::Config& config, int64_t dims,
                                       std::span<const double> factors = {});

}  // namespace pax
