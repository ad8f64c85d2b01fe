#include "pax/experiments/registry.h"

#include "pax/data/registry.h"
#include "pax/experiments/lm/registry.h"
#include "pax/experiments/lm/text.h"
#include "pax/experiments/maxtext.h"
#include "pax/experiments/vision/registry.h"
#include "pax/layers/registry.h"
#include "pax/optim/registry.h"
#include "pax/task/registry.h"

namespace pax {

void register_experiments(config::Registry& registry) {
  registry.add<ByteLmSmall>();
  register_lm_cloud(registry);
  register_mlp(registry);
  register_c4(registry);
  register_c4_pipeline(registry);
  register_c4_multislice(registry);
  register_optimal_scaling(registry);
  register_bert(registry);
  register_nvidia(registry);
  register_nvidia_experts(registry);
  register_gpu(registry);
  register_maxtext(registry);
  register_vision(registry);
  register_mnist(registry);
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
