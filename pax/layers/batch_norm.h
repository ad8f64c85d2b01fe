#pragma once

#include "pax/layers/normalizations.h"
#include "pax/ops/reduce.h"

namespace pax {

struct Moments {
  Tensor mean, variance;
};
struct MomentsOptions {
  std::vector<int64_t> dims;                 ///< reduced over
  std::optional<int64_t> cumulative_axis{};  ///< each place along it sees what is before it
  Reduced reduced = Reduced::kDropped;
};
/// Mean and (biased) variance of `x` where `paddings`, of its rank, is 0. No data: 0.
Moments compute_moments(Tensor x, Tensor paddings, const MomentsOptions& options);

/// Normalises over all dimensions but the last, in training by the batch's own statistics, of which a moving average is
/// kept for evaluation; then (1 + gamma) x + beta (praxis normalizations.BatchNorm; Ioffe and Szegedy 2015).
class BatchNorm final : public BaseNormalization {
 public:
  struct Config : BaseNormalization::Config {
    using Product = BatchNorm;
    static constexpr std::string_view kName = "praxis.layers.BatchNorm";
    static constexpr std::string_view kAliases[] = {"praxis.layers.normalizations.BatchNorm"};
    static constexpr std::string_view kDoc = "Normalisation over the batch.";
    double decay = 0.999;
    bool use_moving_avg_in_training = false;
    bool set_padded_output_to_zero = true;
    bool force_eval_mode = false;
    WeightInit gamma_init = WeightInit::constant(0.0);
    static void fields(auto& self, auto&& visit) {
      BaseNormalization::Config::fields(self, visit);
      visit("decay", self.decay, "Of the moving averages, a step.");
      visit("use_moving_avg_in_training", self.use_moving_avg_in_training,
            "Training normalises by the moving averages too, without gamma and beta.");
      visit("set_padded_output_to_zero", self.set_padded_output_to_zero);
      visit("force_eval_mode", self.force_eval_mode, "As in evaluation, always.");
      visit("gamma_init", self.gamma_init, "How gamma begins.");
    }
  };
  BatchNorm(const Config& config, const Scope& scope);
  using BaseNormalization::fprop;
  /// `x` [..., dim], `paddings` [...] or null.
  Tensor fprop(Tensor x, Tensor paddings) const override;

 private:
  Moments moments(Tensor x, Tensor paddings) const;

  const Config config_;
  Tensor beta_, gamma_;                   ///< [dim]
  Tensor moving_mean_, moving_variance_;  ///< [dim], not trained
};
extern template const config::ConfigType& config::type_of<BatchNorm::Config>();

/// Normalises each group of channels over all positions (praxis normalizations.GroupNorm; Wu and He 2018).
/// Inputs are [B, T, D], [B, H, W, D] or [B, T, H, W, D].
class GroupNorm final : public BaseNormalization {
 public:
  struct Config : BaseNormalization::Config {
    using Product = GroupNorm;
    static constexpr std::string_view kName = "praxis.layers.GroupNorm";
    static constexpr std::string_view kAliases[] = {"praxis.layers.normalizations.GroupNorm"};
    static constexpr std::string_view kDoc = "Normalisation of groups of channels.";
    int64_t num_groups = 32;
    int64_t min_group_size = 1;
    bool cumulative = false;
    std::optional<int64_t> input_rank;
    double epsilon = 0.001;
    bool set_padded_output_to_zero = true;
    bool use_scale = true;
    bool use_bias = true;
    static void fields(auto& self, auto&& visit) {
      BaseNormalization::Config::fields(self, visit);
      visit("num_groups", self.num_groups, {.doc = "Number of groups.", .min = 1});
      visit("min_group_size", self.min_group_size, {.doc = "Channels of a group at least.", .min = 1});
      visit("cumulative", self.cumulative, "Each position sees those before it only.");
      visit("input_rank", self.input_rank, "3, 4 or 5: must be said.");
      visit("epsilon", self.epsilon, "Added to the variance.");
      visit("set_padded_output_to_zero", self.set_padded_output_to_zero);
      visit("use_scale", self.use_scale);
      visit("use_bias", self.use_bias);
    }
  };
  GroupNorm(const Config& config, const Scope& scope);
  using BaseNormalization::fprop;
  /// `paddings` [B, T] or null.
  Tensor fprop(Tensor x, Tensor paddings) const override;

 private:
  const Config config_;
  int64_t group_size_;
  Tensor beta_, gamma_;  ///< [1, ..., dim]; null when unused
};
extern template const config::ConfigType& config::type_of<GroupNorm::Config>();

}  // namespace pax
