#include "pax/layers/stochastics.h"

#include <fmt/format.h>

#include "pax/base/error.h"
#include "pax/ops/broadcast.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/logic.h"
#include "pax/ops/random.h"
#include "pax/ops/reshape.h"

namespace pax {

Dropout::Dropout(const Config& config, const Scope& scope) : Layer(config, scope), config_(config) {
  if (!(config.keep_prob > 0 && config.keep_prob <= 1)) {
    pax::fail<ConfigError>("{}: keep_prob is {}; it must lie above 0 and at most at 1", scope.path(), config.keep_prob);
  }
}

Tensor Dropout::fprop(Tensor x) const {
  if (config_.keep_prob == 1.0 || (do_eval() && !config_.dropout_at_eval)) return x;
  Shape shape = config_.noise_shape ? Shape(*config_.noise_shape) : x.shape();
  for (const int64_t dim : config_.noise_shape_broadcast_dims.value_or(std::vector<int64_t>{})) {
    if (dim >= shape.rank() || dim < -shape.rank()) {
      fail(fmt::format("noise_shape_broadcast_dims has {}, but the noise is {}", dim, to_string(shape)));
    }
    shape[dim] = 1;
  }
  Tensor keep = random_bernoulli(scope().random_key(draws_++), shape, config_.keep_prob);
  const bool transposed = config_.transpose_qk.value_or(false) && shape.rank() == 4 && shape[2] == shape[3];
  if (transposed) keep = swap_dims(keep, 2, 3);
  return select(broadcast_to(keep, x.shape()), x / config_.keep_prob, 0.0);
}

StochasticResidual::StochasticResidual(const Config& config, const Scope& scope)
    : Layer(config, scope), residual_weight_(config.residual_weight), survival_prob_(config.survival_prob) {
  if (!(config.survival_prob > 0 && config.survival_prob <= 1)) {
    pax::fail<ConfigError>("{}: survival_prob is {}; it must lie above 0 and at most at 1", scope.path(),
                           config.survival_prob);
  }
}

Tensor StochasticResidual::fprop(Tensor inputs, Tensor residual) const {
  if (!do_eval() && survival_prob_ < 1) {
    Shape rows(std::vector<int64_t>(static_cast<size_t>(residual.rank()), 1));
    rows[0] = residual.dim(0);
    const Tensor survives = random_bernoulli(scope().random_key(draws_++), rows, survival_prob_);
    residual = select(broadcast_to(survives, residual.shape()), residual / survival_prob_, 0.0);
  }
  return inputs + residual * residual_weight_;
}

template const config::ConfigType& config::type_of<Dropout::Config>();
template const config::ConfigType& config::type_of<StochasticResidual::Config>();

}  // namespace pax
