#include "pax/experiments/registry.h"

#include "pax/data/registry.h"
#include "pax/experiments/lm/c4.h"
#include "pax/experiments/lm/lm_cloud.h"
#include "pax/experiments/lm/text.h"
#include "pax/layers/registry.h"
#include "pax/optim/registry.h"
#include "pax/task/registry.h"

namespace pax {

void register_experiments(config::Registry& registry) {
  registry.add<ByteLmSmall>();
  registry.add<LmCloudSpmdTest>();
  registry.add<LmCloudSpmd2B>();
  registry.add<C4Spmd1BAdam4Replicas>();
  registry.add<C4Spmd16BAdam32Replicas>();
}

config::Registry make_registry() {
  config::Registry registry;
  register_layers(registry);
  register_optim(registry);
  data::register_inputs(registry);
  register_tasks(registry);
  registry.add<ExperimentConfig>();
  register_experiments(registry);
  return registry;
}

}  // namespace pax
