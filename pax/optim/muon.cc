#include "pax/optim/muon.h"

#include <algorithm>
#include <cmath>

#include "pax/ops/constant.h"
#include "pax/ops/convert.h"
#include "pax/ops/dot.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/reduce.h"
#include "pax/ops/reshape.h"
#include "pax/optim/update_rules.h"

namespace pax {
namespace {

constexpr const char* kMu = "raw/mu";
constexpr const char* kNu = "raw/nu";

bool is_matrix(const Leaf& leaf) { return leaf.rank() >= 2; }

/// [prefix..., rows, columns].
Tensor as_matrix(const Leaf& leaf, Tensor x) {
  std::vector<int64_t> dims(x.shape().begin(), x.shape().begin() + leaf.num_prefix);
  dims.push_back(-1);
  dims.push_back(x.dim(-1));
  return reshape(x, Shape(std::move(dims)));
}

/// Newton and Schulz's iteration towards the nearest orthogonal matrix, over the shorter side.
Tensor orthogonalized(Tensor x, const std::array<double, 3>& coefficients, int64_t steps, double eps) {
  const bool tall = x.dim(-2) > x.dim(-1);
  if (tall) x = swap_dims(x, -2, -1);
  x = x / (sqrt(reduce_sum(square(x), {-2, -1}, Reduced::kKept)) + eps);
  const auto [a, b, c] = coefficients;
  for (int64_t i = 0; i < steps; ++i) {
    const Tensor gram = matmul(x, swap_dims(x, -2, -1));
    x = a * x + matmul(b * gram + c * matmul(gram, gram), x);
  }
  return tall ? swap_dims(x, -2, -1) : x;
}

}  // namespace

std::vector<Slot> Muon::raw_slots(const Leaf& leaf) const {
  std::vector<Slot> slots{slot_like(leaf, kMu)};
  if (!is_matrix(leaf)) slots.push_back(slot_like(leaf, kNu));
  return slots;
}

LeafUpdate Muon::raw_update(const LeafStep& step) const {
  if (!is_matrix(step.leaf)) {
    LeafUpdate out = scale_by_adam(step, {config_.adam_b1, config_.adam_b2, config_.eps, config_.adam_eps_root});
    out.update = -step.learning_rate * (out.update + config_.adam_weight_decay * step.weight);
    return out;
  }
  const Tensor mu = blend(step.slot(kMu), step.grad, config_.beta);
  // The mean is corrected for its bias; with Nesterov's look-ahead for that of the next step.
  const Tensor t = convert(step.count, DType::kF32) + 1.0;
  const auto correct = [&](Tensor mean, Tensor updates) {
    return mean / (1.0 - power(full_like(t, config_.beta), updates));
  };
  const Tensor ahead =
      config_.nesterov ? blend(correct(mu, t + 1.0), correct(step.grad, t), config_.beta) : correct(mu, t);
  const Tensor matrix = as_matrix(step.leaf, ahead);
  const auto rows = static_cast<double>(matrix.dim(-2)), columns = static_cast<double>(matrix.dim(-1));
  const double scale = config_.consistent_rms ? *config_.consistent_rms * std::sqrt(std::max(rows, columns))
                                              : std::sqrt(std::max(1.0, columns / rows));
  Tensor update = orthogonalized(matrix, config_.ns_coeffs, config_.ns_steps, config_.eps) * scale;
  update = reshape(update, step.leaf.type.shape) + config_.weight_decay * step.weight;
  return {-step.learning_rate * update, {{kMu, mu}}};
}

template const config::ConfigType& config::type_of<Muon::Config>();

}  // namespace pax
