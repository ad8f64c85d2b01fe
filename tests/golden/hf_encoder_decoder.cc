#include <fmt/format.h>

#include "pax/config/sharing.h"
#include "pax/layers/transformer_models/transformer_encoder_decoder.h"
#include "pax/ops/convert.h"
#include "pax/task/models/sequence_model.h"
#include "pax/task/steps.h"
#include "tests/golden/hf_folder.h"

namespace pax::golden {
namespace {

HostArray filled(const Shape& shape, double value) {
  return from_doubles(std::vector<double>(static_cast<size_t>(shape.num_elements()), value), {DType::kF32, shape});
}

HostTree batch_of(const HfFolder& folder, const std::string& name) {
  HostTree batch;
  batch["ids"] = folder.integers(name + ".input_ids");
  batch["targets"] = folder.integers(name + ".decoder_input_ids");
  batch["target_paddings"] = filled(batch["targets"].shape(), 0);
  batch["paddings"] = filled(batch["ids"].shape(), 0);
  if (const HostArray* mask = folder.find(name + ".attention_mask")) {
    std::vector<double> paddings = mask->to_doubles();
    for (double& value : paddings) value = 1 - value;
    batch["paddings"] = from_doubles(paddings, {DType::kF32, mask->shape()});
  }
  std::vector<double> labels = folder.integers(name + ".labels").to_doubles(), weights(labels.size());
  for (size_t i = 0; i < labels.size(); ++i) {
    weights[i] = labels[i] >= 0 ? 1 : 0;
    labels[i] = std::max(labels[i], 0.0);
  }
  batch["labels"] = from_doubles(labels, {DType::kS32, batch["targets"].shape()});
  batch["weights"] = from_doubles(weights, {DType::kF32, batch["targets"].shape()});
  return batch;
}

/// `states` of one side: embedding, each layer, the last after the final norm.
void output_states(Graph& graph, const std::string& side, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    const std::string stack = "model/" + side;
    const Tensor state = i == 0           ? input_of(graph, stack + "/x_layers_0")
                         : i == count - 1 ? output_of(graph, stack + "_ln")
                                          : output_of(graph, fmt::format("{}/x_layers_{}", stack, i - 1));
    graph.output(fmt::format("{}/{}", side, i), state);
  }
}

void check_states(const HfRun& run, const std::string& side, const HostTree& results, const HostArray& expected) {
  const int64_t count = expected.shape()[0];
  std::vector<double> got;
  for (int64_t i = 0; i < count; ++i) {
    const std::vector<double> state = results.at(fmt::format("{}/{}", side, i)).to_doubles();
    got.insert(got.end(), state.begin(), state.end());
  }
  const std::string name = fmt::format("plain.{}_hidden_states", side);
  run.checks.add(name, compare(name, from_doubles(got, {DType::kF32, expected.shape()}), expected,
                               run.folder.tolerance("hidden_states_abs")));
}

void check_case(const HfRun& run, const std::string& name) {
  const HfFolder& folder = run.folder;
  const HostTree batch = batch_of(folder, name);
  Graph graph;
  ModelTrace trace(graph, ModelTrace::Mode::kEval);
  auto tpl = run.model.model.get<Tpl<SequenceModelLayer>>("model_tpl").clone();
  config::mark_shared(tpl);
  LmOutput output;
  std::shared_ptr<SequenceModelLayer> model;
  {
    const Graph::PathGuard path(graph, "model");
    model = tpl.build(Scope(trace).child("model"));
    Tree<Tensor> in;
    for (const auto& [field, array] : batch) in[field] = graph.argument("batch/" + field, array.type());
    SequenceInputs inputs{.ids_bs = in["ids"],
                          .paddings_bs = in["paddings"],
                          .segment_ids_bs = {},
                          .segment_pos_bs = {},
                          .targets_bt = in["targets"],
                          .target_paddings_bt = in["target_paddings"]};
    output = model->fprop(inputs, {.class_ids_bt = in["labels"], .class_weights_bt = in["weights"]});
  }
  graph.output("logits", convert(output.logits, DType::kF32));
  graph.output("loss", output.total_loss);
  const bool plain = name == "plain";
  for (const std::string side : {"encoder", "decoder"}) {
    const HostArray* states = folder.find(fmt::format("{}.{}_hidden_states", name, side));
    if (states != nullptr) output_states(graph, side, states->shape()[0]);
  }
  if (plain) output_gradients(graph, trace, output.total_loss);
  HostTree arguments = run.model.variables;
  for (const auto& [field, array] : batch) arguments["batch/" + field] = array;
  const HostTree results = run_graph(graph, arguments, run.context);

  run.checks.add(name + ".logits", compare_rows(name + ".logits", results.at("logits"), *folder.find(name + ".logits"),
                                                &batch.at("weights"), folder.tolerance("logits_abs")));
  run.checks.add(name + ".loss", compare(name + ".loss", results.at("loss").reshaped({1}), *folder.find(name + ".loss"),
                                         folder.tolerance("loss_abs")));
  for (const std::string side : {"encoder", "decoder"}) {
    const HostArray* states = folder.find(fmt::format("{}.{}_hidden_states", name, side));
    if (states != nullptr) check_states(run, side, results, *states);
  }
  if (plain) check_gradients(run, "plain.grad.", results);
}

void check_generation(const HfRun& run, size_t i) {
  const std::string name = fmt::format("generate.{}", i);
  const HostArray prompt = run.folder.integers(name + ".prompt");
  const HostArray wanted = run.folder.integers(name + ".new_tokens");
  const int64_t length = prompt.shape()[0], steps = wanted.shape()[0];
  SingleTask task;
  task.model = run.model.model.clone();
  GreedyDecoder::Config decoder;
  decoder.seqlen = 1 + steps;
  decoder.max_decode_steps = steps;
  decoder.eos_id = int64_t{-1};
  task.model.set("decoder_tpl", decoder);
  HostTree batch;
  batch["src/ids"] = prompt.reshaped({1, length});
  batch["src/paddings"] = filled({1, length}, 0);
  const auto start = static_cast<int32_t>(run.folder.config.real("decoder_start_token_id", 0));
  batch["tgt/ids"] = HostArray::of<int32_t>({start}, {1, 1});
  batch["tgt/paddings"] = filled({1, 1}, 0);

  Graph graph;
  ModelTrace trace(graph, ModelTrace::Mode::kEval);
  const auto model = build_model(task, trace);
  Tree<Tensor> in;
  HostTree arguments = run.model.variables;
  for (const auto& [field, array] : batch) {
    in[field] = graph.argument("batch/" + field, array.type());
    arguments["batch/" + field] = array;
  }
  graph.output("output_ids", model->decode(in).at("output_ids"));
  const std::vector<double> row = run_graph(graph, arguments, run.context).at("output_ids").to_doubles();
  const std::span<const double> written(row.data() + 1, static_cast<size_t>(steps));
  run.checks.add(name, compare(name, from_doubles(written, {DType::kS32, {steps}}), wanted, {}));
}

}  // namespace

void check_encoder_decoder(const HfRun& run) {
  for (const std::string& name : run.folder.info.find("cases")->keys) check_case(run, name);
  for (size_t i = 0; run.folder.find(fmt::format("generate.{}.prompt", i)) != nullptr; ++i) check_generation(run, i);
}

}  // namespace pax::golden
