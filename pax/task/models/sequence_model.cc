#include "pax/task/models/sequence_model.h"

#include "pax/ops/constant.h"
#include "pax/ops/convert.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/reduce.h"
#include "pax/task/models/batch_fields.h"
#include "pax/task/models/xent_metrics.h"

namespace pax {
namespace {

/// The fields of one side, without its name.
Tree<Tensor> side_of(const Tree<Tensor>& batch, std::string_view side) {
  Tree<Tensor> fields;
  for (auto at = batch.lower_bound(side); at != batch.end() && at->first.starts_with(side); ++at) {
    fields[at->first.substr(side.size())] = at->second;
  }
  return fields;
}

class SequenceDecodeModel final : public DecodeModel {
 public:
  SequenceDecodeModel(const SequenceModelLayer& model, const Scope& scope, const SequenceInputs& source)
      : model_(model), scope_(scope), source_(source) {}

  Graph& graph() const override { return scope_.graph(); }
  Tree<Tensor> prefill(const Prompt& prompt) const override {
    Tree<Tensor> cache;
    SequenceInputs inputs = source_;
    inputs.targets_bt = prompt.ids_bt;
    inputs.target_paddings_bt = prompt.paddings_bt;
    inputs.target_segment_ids_bt = prompt.segment_ids_bt;
    inputs.target_segment_pos_bt = prompt.segment_pos_bt;
    inputs.cache = &cache;
    model_.predict(inputs);
    return cache;
  }
  Tensor step(const DecodeStep& step, Tree<Tensor>& cache) const override {
    return model_.extend_step({.ids_b = step.ids_b,
                               .time_step = step.time_step,
                               .segment_pos_b = step.segment_pos_b,
                               .paddings_bs = source_.paddings_bs,
                               .max_length = step.max_length,
                               .cache = &cache});
  }
  Tensor random_key() const override { return scope_.random_key(); }

 private:
  const SequenceModelLayer& model_;
  const Scope& scope_;
  const SequenceInputs source_;
};

}  // namespace

SequenceModel::SequenceModel(const Config& config, const Scope& scope) : BaseModel(config, scope), config_(config) {
  auto model = config.model_tpl.clone();
  if (config.label_smoothing_prob) model.set("softmax_tpl.label_smoothing_prob", *config.label_smoothing_prob);
  model_ = child("model", model);
}

SequenceInputs SequenceModel::inputs_of(const Tree<Tensor>& batch) const {
  SequenceInputs inputs{.ids_bs = batch_field(batch, "src/ids"),
                        .paddings_bs = batch_field(batch, "src/paddings", "src/ids"),
                        .targets_bt = batch_field(batch, "tgt/ids"),
                        .target_paddings_bt = batch_field(batch, "tgt/paddings", "tgt/ids")};
  if (!config_.model_tpl.get_or("packed_input", false)) return inputs;
  inputs.segment_ids_bs = batch_field(batch, "src/segment_ids", "src/ids");
  inputs.segment_pos_bs = batch_field(batch, "src/segment_pos", "src/ids");
  inputs.target_segment_ids_bt = batch_field(batch, "tgt/segment_ids", "tgt/ids");
  inputs.target_segment_pos_bt = batch_field(batch, "tgt/segment_pos", "tgt/ids");
  return inputs;
}

ModelOutput SequenceModel::compute_loss(const Tree<Tensor>& batch) const {
  const Tree<Tensor> target = side_of(batch, "tgt/");
  const LmOutput predictions = model_->fprop(
      inputs_of(batch), {.class_ids_bt = batch_field(target, "labels"), .class_weights_bt = token_weights(target, {})});
  return xent_metrics(predictions, target, {.return_predictions = config_.return_predictions});
}

Tree<Tensor> SequenceModel::decode(const Tree<Tensor>& batch) const {
  SequenceInputs source = inputs_of(batch);
  DecodeInputs prompts{.ids_bt = source.targets_bt, .paddings_bt = source.target_paddings_bt, .options = batch};
  const Tensor lengths = optional_batch_field(batch, "prefix_lengths");
  // Without lengths only the first token is given, as Praxis has it.
  prompts.lengths_b =
      lengths ? convert(lengths, DType::kS32) : full(graph(), {DType::kS32, {source.targets_bt.dim(0)}}, 1);
  const Graph::PathGuard path(graph(), "model");
  return config_.decoder_tpl.build()->decode(SequenceDecodeModel(*model_, scope(), source), prompts);
}

template const config::ConfigType& config::type_of<SequenceModel::Config>();

}  // namespace pax
