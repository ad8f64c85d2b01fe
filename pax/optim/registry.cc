#include "pax/optim/registry.h"

#include "pax/optim/adafactor.h"
#include "pax/optim/adam.h"
#include "pax/optim/multi_optimizer_learner.h"
#include "pax/optim/muon.h"
#include "pax/optim/optax_optimizer.h"
#include "pax/optim/ramp_schedules.h"
#include "pax/optim/schedules.h"
#include "pax/optim/sgd.h"
#include "pax/optim/shampoo.h"
#include "pax/optim/static_accumulator.h"

namespace pax {

void register_optim(config::Registry& registry) {
  registry.add<ConstantSchedule::Config>();
  registry.add<PolynomialSchedule::Config>();
  registry.add<LinearSchedule::Config>();
  registry.add<ExponentialSchedule::Config>();
  registry.add<CosineSchedule::Config>();
  registry.add<DelayedCosineSchedule::Config>();
  registry.add<PiecewiseConstantSchedule::Config>();
  registry.add<TransformerSchedule::Config>();
  registry.add<SqrtDecaySchedule::Config>();
  registry.add<ContinuousSchedule::Config>();
  registry.add<PiecewiseSchedule::Config>();
  registry.add<CycleSchedule::Config>();
  registry.add<LinearRampupPolynomialDecay::Config>();
  registry.add<LinearRampupCosineDecay::Config>();
  registry.add<LinearRampupExponentialDecay::Config>();
  registry.add<LinearRampupPiecewiseConstant::Config>();
  registry.add<LinearRampupSqrtDecay::Config>();

  registry.add<Sgd::Config>();
  registry.add<Lars::Config>();
  registry.add<Adagrad::Config>();
  registry.add<ShardedAdagrad::Config>();
  registry.add<Adam::Config>();
  registry.add<Lion::Config>();
  registry.add<Lamb::Config>();
  registry.add<Adafactor::Config>();
  registry.add<ShardedAdafactor::Config>();
  registry.add<StaticAccumulator::Config>();
  registry.add<OptaxOptimizer::Config>();
  registry.add<Muon::Config>();
  registry.add<DistributedShampoo::Config>();

  registry.add<Learner::Config>();
  registry.add<MultiOptimizerLearner::Config>();
}

}  // namespace pax
