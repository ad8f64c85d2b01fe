#include "tests/trainer/small_model.h"

#include "pax/data/batch.h"
#include "pax/experiments/load.h"
#include "pax/experiments/registry.h"
#include "pax/task/models/language_model.h"

namespace pax {

ExperimentConfig small_model(const Layout& layout, Model model, const Sizes& sizes) {
  ExperimentConfig config =
      load_experiment({.name = "LmCloudSpmdTest",
                       .constants = {"FPROP_DTYPE=float32", "MODEL_DIMS=32", "LEARNING_RATE=1e-2", "LR_LRED_WARMUP=2",
                                     "LR_LRED_DECAY_START=3", "ICI_MESH_SHAPE=[1,1,1]",
                                     "VOCAB_SIZE=" + std::to_string(sizes.vocabulary),
                                     "HIDDEN_DIMS=" + std::to_string(sizes.hidden)}},
                      make_registry())
          .config;
  config.task.model.set("mesh_axis_names", layout.axes);
  config.task.model.set("ici_mesh_shape", layout.ici);
  config.task.model.set("dcn_mesh_shape", layout.dcn);
  config.platform.cpu_device_count = 0;
  if (model == Model::kExperts) {
    const std::string block = "lm_tpl.stacked_transformer_tpl.block.";
    config.task.model.set(block + "num_experts", int64_t{4});
    config.task.model.set(block + "num_groups", int64_t{4});
    config.task.model.set(block + "moe_layers", std::vector<int64_t>{0});
  }
  auto lm = config.task.model.get<Tpl<LanguageModelLayer>>("lm_tpl");
  set_sharding(lm, sharding_v1(layout.roles, layout.use));
  config.task.train.batch_split = {layout.roles.replica, layout.roles.data};
  if (!layout.roles.data_expert.empty()) config.task.train.batch_split.push_back(layout.roles.data_expert);
  return config;
}

HostTree batch_of(int64_t rows, int64_t vocabulary, uint32_t seed) {
  data::LmBatch batch(rows, kPositions);
  uint32_t state = seed;
  for (int64_t row = 0; row < rows; ++row) {
    std::vector<int32_t> ids;
    for (int64_t i = 0; i <= kPositions; ++i) {
      state = state * 1664525u + 1013904223u;
      ids.push_back(static_cast<int32_t>((state >> 8) % static_cast<uint32_t>(vocabulary)));
    }
    const std::vector<float> weights(static_cast<size_t>(kPositions), 1.0f);
    const std::span<const int32_t> all(ids);
    batch.append(row, all.first(kPositions), all.subspan(1), weights);
  }
  return batch.take();
}

}  // namespace pax
