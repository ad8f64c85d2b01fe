// A layer, an optimizer, an input and an experiment of one's own, in a shared library for `paxml --load`.

#include "own_classes.h"

#include "pax/experiments/extension.h"
#include "pax/experiments/lm/lm_cloud.h"
#include "pax/layers/transformers/stacked_transformer_repeated.h"
#include "pax/ops/elementwise.h"

namespace mine {

using pax::Tensor;

ScaledSwish::ScaledSwish(const Config& config, const pax::Scope& scope)
    : Layer(config, scope),
      scale_(param("scale", {.shape = {}, .init = pax::WeightInit::constant(config.initial_scale)})) {}

Tensor ScaledSwish::fprop(Tensor x) const { return x * logistic(x * scale_); }

std::vector<pax::Slot> SignedSgd::raw_slots(const pax::Leaf&) const { return {}; }

pax::LeafUpdate SignedSgd::raw_update(const pax::LeafStep& step) const {
  return {.update = -1.0 * step.learning_rate * sign(step.grad), .slots = {}};
}

CountingRows::CountingRows(const Config& config) : Input(config), seq_len_(*config.seq_len) {}

pax::data::BatchSpec CountingRows::spec() const { return pax::data::lm_batch_spec(share().batch_size, seq_len_); }

std::optional<pax::HostTree> CountingRows::produce() {
  pax::data::LmBatch batch(share().batch_size, seq_len_);
  std::vector<int32_t> ids(static_cast<size_t>(seq_len_)), labels(ids.size());
  const std::vector<float> weights(ids.size(), 1.0F);
  for (int64_t row = 0; row < share().batch_size; ++row) {
    for (size_t i = 0; i < ids.size(); ++i) {
      ids[i] = static_cast<int32_t>((static_cast<size_t>(start_) + i) % 16);
      labels[i] = (ids[i] + 1) % 16;
    }
    batch.append(row, ids, labels, weights);
    ++start_;
  }
  return batch.take();
}

namespace {

/// A small language model on rows that count, with the layer and the optimizer above.
struct CountingLm : pax::LmCloudSpmd {
  using Product = pax::Preset<CountingLm>;
  static constexpr std::string_view kName = "mine.CountingLm";
  static constexpr std::string_view kDoc = "Learns to count to 16.";
  CountingLm() {
    NUM_LAYERS = 2;
    MODEL_DIMS = 32;
    HIDDEN_DIMS = 64;
    DIMS_PER_HEAD = 8;
    VOCAB_SIZE = 16;
    MAX_SEQ_LEN = 16;
    PERCORE_BATCH_SIZE = 8;
    FPROP_DTYPE = pax::DType::kF32;
  }
  pax::ExperimentConfig experiment() const override {
    pax::ExperimentConfig config = LmCloudSpmd::experiment();
    const auto stack = config.task.model.get<pax::Tpl<pax::TransformerStack>>("lm_tpl.stacked_transformer_tpl");
    auto layer = std::get<0>(stack.get<pax::LayerTemplates>("block.transformer_layer_params_tpl"));
    layer.set("tr_fflayer_tpl.activation_tpl", ScaledSwish::Config{});
    SignedSgd::Config optimizer;
    optimizer.learning_rate = 1e-3;
    optimizer.lr_schedule = config.task.train.learner.get<pax::Tpl<pax::Schedule>>("optimizer.lr_schedule");
    config.task.train.learner.set("optimizer", optimizer);
    CountingRows::Config input;
    input.name = "counting";
    input.batch_size = global_batch_size();
    input.seq_len = MAX_SEQ_LEN;
    config.input = input;
    config.eval_inputs.clear();
    return config;
  }
};

}  // namespace
}  // namespace mine

void pax_register(pax::config::Registry& registry) {
  registry.add<mine::ScaledSwish::Config>();
  registry.add<mine::SignedSgd::Config>();
  registry.add<mine::CountingRows::Config>();
  registry.add<mine::CountingLm>();
}
