#include "pax/task/decode_steps.h"

#include <algorithm>
#include <unordered_map>

#include "pax/base/error.h"
#include "pax/ir/transform.h"
#include "pax/ops/constant.h"
#include "pax/ops/convert.h"
#include "pax/ops/logic.h"
#include "pax/ops/random.h"
#include "pax/ops/reshape.h"
#include "pax/ops/slice.h"

namespace pax {
namespace {

constexpr std::string_view kCache = "cache/";

std::string argument_name(const std::string& cached) { return std::string(kCache) + cached; }

/// What a model caches of a prompt [1, T], with the cache's rows and positions.
TensorType sized(const TensorType& of_prompt, const CacheSize& size) {
  std::vector<int64_t> dims(of_prompt.shape.begin(), of_prompt.shape.end());
  dims.at(0) = size.rows;
  dims.at(1) = size.length;
  return {of_prompt.dtype, Shape(dims)};
}

/// A prompt of which the first `num_ids` tokens count.
Prompt prompt_of(Tensor ids_bt, Tensor num_ids) {
  const Tensor place = iota(ids_bt.graph(), {DType::kS32, ids_bt.shape()}, 1);
  return {.ids_bt = ids_bt, .paddings_bt = convert(ge(place, num_ids), DType::kF32)};
}

void require_size(const CacheSize& size) {
  if (size.rows < 1 || size.length < 1) {
    fail<ConfigError>("decode cache: {} rows of {} tokens; both must be 1 or more", size.rows, size.length);
  }
}

/// The program without what nothing depends on, inputs included.
std::unique_ptr<Graph> only_live(const Graph& graph) {
  auto copy = std::make_unique<Graph>();
  const std::vector<bool> live = live_values(graph);
  const auto is_live = [&](ValueId id) { return live[static_cast<size_t>(id)]; };
  ValueMap map;
  for (const Argument& argument : graph.arguments()) {
    if (!is_live(argument.value)) continue;
    map[argument.value] = copy->argument(argument.name, graph.value(argument.value).type, argument.sharding).id();
  }
  for (const NodeId id : graph.block(0).nodes) {
    const Node& node = graph.node(id);
    if (std::ranges::none_of(node.results, is_live)) continue;
    const Graph::PathGuard path(*copy, copy->path_of(graph.path_name(node.path)));
    clone_node(graph, id, *copy, map);
  }
  for (const Output& output : graph.outputs()) {
    copy->output(output.name, copy->tensor(map.at(output.value)), output.sharding);
  }
  return copy;
}

/// Puts an input in the place of each slice of one repetition out of a stacked variable.
void take_apart(TracedProgram& program) {
  Graph& graph = *program.graph;
  std::unordered_map<ValueId, const Param*> stacked;
  for (const Param& param : program.params) {
    if (param.spec.repeat_prefix.size() == 1) stacked[param.value.id()] = &param;
  }
  std::unordered_map<ValueId, ValueId> replacement;
  const std::vector<NodeId> nodes = graph.block(0).nodes;
  for (const NodeId id : nodes) {
    const Node node = graph.node(id);
    if (node.op->name != "slice" || !stacked.contains(node.operands[0])) continue;
    const Param& param = *stacked.at(node.operands[0]);
    const TensorType type = graph.value(node.results[0]).type;
    const auto starts = *node.attrs.find<std::vector<int64_t>>("start_indices");
    if (type.shape[0] != 1 || type.shape.without(0) != param.value.shape().without(0)) continue;
    const std::string name = param.state_name() + "#" + std::to_string(starts[0]);
    replacement[node.results[0]] = graph.argument(name, type, Sharding{}).id();
  }
  graph.replace_uses(0, replacement);
  for (Param& param : program.params) param.value = {};
  program.graph = only_live(graph);
}

/// One trace of a model that writes.
struct Writing {
  explicit Writing(const SingleTask& task)
      : trace(*program.graph, ModelTrace::Mode::kEval), model(build_model(task, trace)), steps(model->decode_model()) {}

  Graph& graph() { return *program.graph; }
  /// The cache as it would be after one token. Nothing of it is computed unless it is used.
  Tree<TensorType> types(const CacheSize& size) {
    const Tensor ids = full(graph(), {DType::kS32, {1, 1}}, 0);
    Tree<TensorType> types;
    for (const auto& [name, value] : steps->prefill(prompt_of(ids, full(graph(), {DType::kS32, {}}, 1)))) {
      types[name] = sized(value.type(), size);
    }
    return types;
  }
  TracedProgram take() {
    program.params = trace.params();
    return std::move(program);
  }

  TracedProgram program;
  ModelTrace trace;
  std::shared_ptr<BaseModel> model;
  std::unique_ptr<DecodeModel> steps;
};

}  // namespace

TracedProgram trace_decode_step(const SingleTask& task, const data::BatchSpec& batch_spec) {
  TracedProgram program;
  Graph& graph = *program.graph;
  ModelTrace trace(graph, ModelTrace::Mode::kEval);
  const Tensor index = graph.argument("batch_index", {DType::kS32, {}}, Sharding{});
  trace.random_key = fold_in(random_key(graph, static_cast<uint64_t>(task.decode.random_seed)), index);
  const std::shared_ptr<BaseModel> model = build_model(task, trace);
  for (const auto& [name, value] : model->decode(batch_arguments(graph, task, batch_spec))) {
    graph.output(name, value, Sharding{});
  }
  program.params = trace.params();
  return program;
}

Tree<TensorType> cache_types(const SingleTask& task, const CacheSize& size) {
  require_size(size);
  Tree<TensorType> types;
  for (auto& [name, type] : Writing(task).types(size)) types[argument_name(name)] = type;
  return types;
}

TracedProgram trace_prefill(const SingleTask& task, const CacheSize& size, int64_t tokens) {
  require_size(size);
  Writing writing(task);
  Graph& graph = writing.graph();
  const Tensor ids = graph.argument("ids", {DType::kS32, {1, tokens}}, Sharding{});
  const Tensor num_ids = graph.argument("num_ids", {DType::kS32, {}}, Sharding{});
  const Tensor row = graph.argument("row", {DType::kS32, {}}, Sharding{});
  for (const auto& [name, value] : writing.steps->prefill(prompt_of(ids, num_ids))) {
    const Tensor cache = graph.argument(argument_name(name), sized(value.type(), size), Sharding{});
    std::vector<Tensor> starts(static_cast<size_t>(value.rank()), full(graph, {DType::kS32, {}}, 0));
    starts[0] = row;
    graph.output(argument_name(name), dynamic_update_slice(cache, value, starts), Sharding{});
  }
  return writing.take();
}

TracedProgram trace_extend_step(const SingleTask& task, const CacheSize& size, RepeatedWeights weights) {
  require_size(size);
  Writing writing(task);
  Graph& graph = writing.graph();
  const Tensor ids = graph.argument("ids", {DType::kS32, {size.rows}}, Sharding{});
  const Tensor positions = graph.argument("positions", {DType::kS32, {size.rows}}, Sharding{});
  Tree<Tensor> cache;
  for (const auto& [name, type] : writing.types(size)) {
    cache[name] = graph.argument(argument_name(name), type, Sharding{});
  }
  const Tensor logits = writing.steps->step({.ids_b = ids,
                                             .time_step = size.rows == 1 ? squeeze(positions, {0}) : positions,
                                             .segment_pos_b = positions,
                                             .max_length = size.length},
                                            cache);
  for (const auto& [name, value] : cache) graph.output(argument_name(name), value, Sharding{});
  graph.output("logits", convert(logits, DType::kF32), Sharding{});
  TracedProgram program = writing.take();
  if (weights == RepeatedWeights::kApart) take_apart(program);
  return program;
}

}  // namespace pax
