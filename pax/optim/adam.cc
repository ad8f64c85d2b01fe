#include "pax/optim/adam.h"

#include "pax/ops/constant.h"
#include "pax/ops/convert.h"
#include "pax/ops/elementwise.h"
#include "pax/optim/update_rules.h"

namespace pax {
namespace {

constexpr const char* kM = "raw/m";
constexpr const char* kV = "raw/v";
constexpr const char* kMu = "raw/mu";
constexpr const char* kNu = "raw/nu";

}  // namespace

Adam::Config Adam::hparams_a() {
  Config config;
  config.beta2 = 0.997;
  config.epsilon = 1e-9;
  return config;
}

Adam::Config Adam::hparams_b() {
  Config config;
  config.beta2 = 0.98;
  config.epsilon = 1e-9;
  return config;
}

std::vector<Slot> Adam::raw_slots(const Leaf& leaf) const {
  if (!config_.sharded_adam) return {slot_like(leaf, kMu), slot_like(leaf, kNu)};
  return {slot_like(leaf, kM), slot_like(leaf, kV)};
}

LeafUpdate Adam::raw_update(const LeafStep& step) const {
  if (!config_.sharded_adam) {
    LeafUpdate out = scale_by_adam(step, {config_.beta1, config_.beta2, config_.epsilon, config_.epsilon_root});
    out.update = -step.learning_rate * out.update;
    return out;
  }
  const auto sound = [&](Tensor x) { return config_.maybe_inf_to_nan ? infinite_to_nan(x) : x; };
  const Tensor grad = sound(step.grad);
  const Tensor m = blend(step.slot(kM), grad, bias_corrected_decay(step.count, config_.beta1));
  const Tensor v = blend(step.slot(kV), square(grad), bias_corrected_decay(step.count, config_.beta2));
  const Tensor root = config_.epsilon_root == 0 ? sqrt(v) : sqrt(v + config_.epsilon_root);
  Tensor update = m / (root + config_.epsilon);
  if (config_.clip_threshold > 0) update = cap(update, sound(rms(step.leaf, update)), config_.clip_threshold);
  if (config_.weight_decay > 0) update = update + config_.weight_decay * step.weight;
  return {-step.learning_rate * update, {{kM, m}, {kV, v}}};
}

std::vector<Slot> Lion::raw_slots(const Leaf& leaf) const { return {slot_like(leaf, kM, 0, config_.m_dtype)}; }

LeafUpdate Lion::raw_update(const LeafStep& step) const {
  const Tensor grad = infinite_to_nan(step.grad);
  const Tensor m = convert(step.slot(kM), grad.dtype());
  Tensor update = sign(blend(m, grad, config_.beta1));
  if (config_.clip_threshold > 0) update = cap(update, rms(step.leaf, update), config_.clip_threshold);
  if (config_.weight_decay > 0) update = update + config_.weight_decay * step.weight;
  return {-step.learning_rate * update, {{kM, convert(blend(m, grad, config_.beta2), config_.m_dtype)}}};
}

std::vector<Slot> Lamb::raw_slots(const Leaf& leaf) const { return {slot_like(leaf, kMu), slot_like(leaf, kNu)}; }

LeafUpdate Lamb::raw_update(const LeafStep& step) const {
  LeafUpdate out = scale_by_adam(step, {config_.b1, config_.b2, config_.eps, config_.eps_root});
  if (config_.weight_decay != 0 && config_.mask.value_or(true)) {
    out.update = out.update + config_.weight_decay * step.weight;
  }
  out.update = -step.learning_rate * scale_by_trust_ratio(step.leaf, out.update, step.weight, 1.0, 0.0);
  return out;
}

template const config::ConfigType& config::type_of<Adam::Config>();
template const config::ConfigType& config::type_of<Lion::Config>();
template const config::ConfigType& config::type_of<Lamb::Config>();

}  // namespace pax
