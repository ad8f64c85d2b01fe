#include <fmt/format.h>

#include "pax/config/sharing.h"
#include "pax/layers/transformer_models/transformer_lm.h"
#include "pax/ops/convert.h"
#include "pax/task/models/language_model.h"
#include "pax/task/steps.h"
#include "tests/golden/hf_folder.h"
#include "tests/golden/recorded_values.h"

// Models that give logits for each of their tokens: decoders, and BERT.

namespace pax::golden {
namespace {

/// A case as our model takes it. Labels are those of the next token, or of a masked one.
struct LmBatch {
  HostTree arrays;
  bool with_loss = false;
};

HostArray real_of(const HostArray& mask, double padding) {
  std::vector<double> values = mask.to_doubles();
  for (double& value : values) value = value != 0 ? 1 - padding : padding;
  return from_doubles(values, {DType::kF32, mask.shape()});
}

LmBatch batch_of(const HfFolder& folder, const std::string& name, bool shift) {
  LmBatch batch;
  const HostArray ids = folder.integers(name + ".input_ids");
  const Shape shape = ids.shape();
  const HostArray* recorded = folder.find(name + ".attention_mask");
  const HostArray mask =
      recorded != nullptr
          ? *recorded
          : from_doubles(std::vector<double>(static_cast<size_t>(shape.num_elements()), 1), {DType::kS32, shape});
  batch.arrays["ids"] = ids;
  batch.arrays["paddings"] = real_of(mask, 1);
  batch.arrays["segment_ids"] = mask.converted(DType::kS32);
  std::vector<double> positions(static_cast<size_t>(shape.num_elements()));
  for (size_t i = 0; i < positions.size(); ++i) positions[i] = static_cast<double>(static_cast<int64_t>(i) % shape[1]);
  const HostArray* given = folder.find(name + ".position_ids");
  batch.arrays["segment_pos"] =
      given != nullptr ? given->converted(DType::kS32) : from_doubles(positions, {DType::kS32, shape});
  if (folder.find(name + ".token_type_ids") != nullptr) {
    batch.arrays["token_types"] = folder.integers(name + ".token_type_ids");
  }
  batch.with_loss = folder.find(name + ".loss") != nullptr;
  const std::vector<double> labels = (batch.with_loss ? folder.integers(name + ".labels") : ids).to_doubles();
  std::vector<double> next(labels.size(), 0), weights(labels.size(), 0);
  for (size_t i = 0; i < labels.size(); ++i) {
    const bool last = shift && static_cast<int64_t>(i) % shape[1] == shape[1] - 1;
    const double label = last ? -100 : labels[i + (shift ? 1 : 0)];
    next[i] = std::max(label, 0.0);
    weights[i] = label >= 0 ? 1 : 0;
  }
  batch.arrays["labels"] = from_doubles(next, {DType::kS32, shape});
  batch.arrays["weights"] = from_doubles(weights, {DType::kF32, shape});
  return batch;
}

struct LmTrace {
  Graph graph;
  ModelTrace trace{graph, ModelTrace::Mode::kEval};
  std::shared_ptr<LanguageModelLayer> lm;
  LmOutput output;

  LmTrace(const hf::ImportedModel& model, const LmBatch& batch, std::optional<double> router_loss_weight = {}) {
    auto tpl = model.model.get<Tpl<LanguageModelLayer>>("lm_tpl").clone();
    if (model.model.has_field("model_type")) {
      tpl.set("model_type", model.model.get<LanguageModelType>("model_type"));
    }
    tpl.set("packed_input", false);
    tpl.set("record_activations_in_xent_output", true);
    if (router_loss_weight) tpl.set("router_loss_weight", *router_loss_weight);
    config::mark_shared(tpl);
    const Graph::PathGuard path(graph, "lm");
    lm = tpl.build(Scope(trace).child("lm"));
    Tree<Tensor> in;
    for (const auto& [name, array] : batch.arrays) in[name] = graph.argument("batch/" + name, array.type());
    LmInputs inputs{.ids_bt = in["ids"],
                    .paddings_bt = in["paddings"],
                    .segment_ids_bt = in["segment_ids"],
                    .segment_pos_bt = in["segment_pos"]};
    if (in.contains("token_types")) inputs.token_types_bt = in["token_types"];
    output = lm->fprop(inputs, {.class_ids_bt = in["labels"], .class_weights_bt = in["weights"]});
    graph.output("logits", convert(output.logits, DType::kF32));
    graph.output("loss", output.total_loss);
  }

  HostTree run(const hf::ImportedModel& model, const LmBatch& batch, const Context& context) {
    HostTree arguments = model.variables;
    for (const auto& [name, array] : batch.arrays) arguments["batch/" + name] = array;
    return run_graph(graph, arguments, context);
  }
};

/// Embedding, every layer, and the last one after the final norm where there is one.
void output_hidden_states(LmTrace& traced, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    const bool last = i == count - 1;
    Tensor state = i == 0 ? input_of(traced.graph, "lm/transformer/x_layers_0")
                          : output_of(traced.graph, fmt::format("lm/transformer/x_layers_{}", i - 1));
    // The head of a masked language model is no norm of its layers.
    if (last && !output_of(traced.graph, "lm/final_ln/dense")) state = traced.output.activations_btd;
    traced.graph.output(fmt::format("hidden/{}", i), state);
  }
}

void check_hidden_states(const HfRun& run, const HostTree& results, const HostArray& expected) {
  const int64_t count = expected.shape()[0];
  const size_t size = static_cast<size_t>(expected.shape().num_elements() / count);
  const std::vector<double> all = expected.to_doubles();
  for (int64_t i = 0; i < count; ++i) {
    const std::string name = fmt::format("plain.hidden_states/{}", i);
    const std::span<const double> own(all.data() + static_cast<size_t>(i) * size, size);
    run.checks.add(name, compare(name, results.at(fmt::format("hidden/{}", i)),
                                 from_doubles(own, {DType::kF32, expected.shape().without(0)}),
                                 run.folder.tolerance("hidden_states_abs")));
  }
}

/// Router logits of all layers, [layers, tokens, experts].
void check_router_logits(const HfRun& run, const HostTree& results, const HostArray& expected) {
  std::vector<double> got;
  for (int64_t i = 0; i < expected.shape()[0]; ++i) {
    const std::vector<double> layer = results.at(fmt::format("router/{}", i)).to_doubles();
    got.insert(got.end(), layer.begin(), layer.end());
  }
  run.checks.add("plain.router_logits",
                 compare("plain.router_logits", from_doubles(got, {DType::kF32, expected.shape()}), expected,
                         run.folder.tolerance("logits_abs")));
}

void output_router_logits(LmTrace& traced, int64_t layers) {
  for (int64_t i = 0; i < layers; ++i) {
    const std::string path = fmt::format("lm/transformer/x_layers_{}/ff_layer", i);
    for (const NodeId id : traced.graph.block(0).nodes) {
      const Node& node = traced.graph.node(id);
      const auto* name = node.attrs.find<std::string>("_name");
      if (name != nullptr && *name == "router_logits" && traced.graph.path_name(node.path) == path) {
        traced.graph.output(fmt::format("router/{}", i), traced.graph.tensor(node.results[0]));
      }
    }
  }
}

void check_case(const HfRun& run, const std::string& name, bool shift) {
  const HfFolder& folder = run.folder;
  const LmBatch batch = batch_of(folder, name, shift);
  LmTrace traced(run.model, batch);
  const HostArray* hidden = folder.find(name + ".hidden_states");
  const HostArray* router = folder.find(name + ".router_logits");
  if (hidden != nullptr) output_hidden_states(traced, hidden->shape()[0]);
  if (router != nullptr) output_router_logits(traced, router->shape()[0]);
  const std::string grad = name + ".grad.";
  const auto first_grad = folder.expected.lower_bound(grad);
  const bool with_grads = first_grad != folder.expected.end() && first_grad->first.starts_with(grad);
  if (with_grads) output_gradients(traced.graph, traced.trace, traced.output.total_loss);

  const HostTree results = traced.run(run.model, batch, run.context);
  run.checks.add(name + ".logits", compare_rows(name + ".logits", results.at("logits"), *folder.find(name + ".logits"),
                                                folder.find(name + ".attention_mask"), folder.tolerance("logits_abs")));
  if (batch.with_loss) {
    run.checks.add(name + ".loss", compare(name + ".loss", results.at("loss").reshaped({1}),
                                           *folder.find(name + ".loss"), folder.tolerance("loss_abs")));
  }
  if (hidden != nullptr) check_hidden_states(run, results, *hidden);
  if (router != nullptr) check_router_logits(run, results, *router);
  if (with_grads) check_gradients(run, grad, results);
}

/// The loss with the routers' balance in it, where the JSON has one.
void check_router_loss(const HfRun& run, const std::string& name) {
  const config::Value* of_case = run.folder.info.find("cases")->find(name);
  const config::Value* with_aux = of_case->find("loss_with_aux");
  if (with_aux == nullptr) return;
  const LmBatch batch = batch_of(run.folder, name, true);
  LmTrace traced(run.model, batch, run.folder.config.real("router_aux_loss_coef", 0.001));
  for (const SideResults::Named& summary : take_side_results(traced.graph).summaries) {
    if (summary.name == "lm/router_loss") traced.graph.output("router_loss", summary.value);
  }
  output_gradients(traced.graph, traced.trace, traced.output.total_loss);
  const HostTree results = traced.run(run.model, batch, run.context);
  const auto expected = [](const config::Value& value) {
    return from_doubles(std::vector<double>{number_of(value)}, {DType::kF32, {1}});
  };
  const Tolerance tolerance = run.folder.tolerance("loss_abs");
  run.checks.add(name + ".loss_with_aux",
                 compare("loss_with_aux", results.at("loss").reshaped({1}), expected(*with_aux), tolerance));
  if (const config::Value* aux = of_case->find("aux_loss")) {
    run.checks.add(name + ".aux_loss",
                   compare("aux_loss", results.at("router_loss").reshaped({1}), expected(*aux), tolerance));
  }
  check_gradients(run, name + ".grad_with_aux.", results);
}

/// Greedy tokens by steps of the decoder, from the task's own model.
void check_generation(const HfRun& run, size_t i) {
  const std::string name = fmt::format("generate.{}", i);
  const HostArray prompt = run.folder.integers(name + ".prompt");
  const HostArray wanted = run.folder.integers(name + ".new_tokens");
  const int64_t length = prompt.shape()[0], steps = wanted.shape()[0];
  SingleTask task;
  task.model = run.model.model.clone();
  GreedyDecoder::Config decoder;
  decoder.seqlen = length + steps;
  decoder.max_decode_steps = length + steps;
  decoder.eos_id = int64_t{-1};
  task.model.set("decoder_tpl", decoder);

  Graph graph;
  ModelTrace trace(graph, ModelTrace::Mode::kEval);
  const auto model = build_model(task, trace);
  const HostArray ids = prompt.reshaped({1, length});
  const HostArray paddings({DType::kF32, {1, length}});
  const Tree<Tensor> decoded = model->decode({{"ids", graph.argument("batch/ids", ids.type())},
                                              {"paddings", graph.argument("batch/paddings", paddings.type())}});
  graph.output("output_ids", decoded.at("output_ids"));
  HostTree arguments = run.model.variables;
  arguments["batch/ids"] = ids;
  arguments["batch/paddings"] = paddings;
  const HostTree results = run_graph(graph, arguments, run.context);
  const std::vector<double> row = results.at("output_ids").to_doubles();
  const std::span<const double> written(row.data() + length, static_cast<size_t>(steps));
  run.checks.add(name, compare(name, from_doubles(written, {DType::kS32, {steps}}), wanted, {}));
}

}  // namespace

void check_decoder(const HfRun& run) {
  const bool masked = run.folder.config.model_type() == "bert";
  const config::Value* cases = run.folder.info.find("cases");
  for (const std::string& name : cases->keys) {
    check_case(run, name, !masked);
    if (!masked) check_router_loss(run, name);
  }
  for (size_t i = 0; run.folder.find(fmt::format("generate.{}.prompt", i)) != nullptr; ++i) check_generation(run, i);
}

}  // namespace pax::golden
