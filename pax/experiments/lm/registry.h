#pragma once

namespace pax {

namespace config {
class Registry;
}

// Each adds the experiments of one Paxml module (paxml.tasks.lm.params.…, paxml.contrib.gpu).
void register_lm_cloud(config::Registry& registry);
void register_c4(config::Registry& registry);
void register_c4_pipeline(config::Registry& registry);
void register_c4_multislice(config::Registry& registry);
void register_optimal_scaling(config::Registry& registry);
void register_nvidia(config::Registry& registry);
void register_nvidia_experts(config::Registry& registry);
void register_gpu(config::Registry& registry);
void register_bert(config::Registry& registry);
void register_mlp(config::Registry& registry);

}  // namespace pax
