#include "pax/autodiff/custom_vjp.h"

#include <fmt/format.h>

#include "pax/autodiff/grad.h"
#include "pax/autodiff/vmap.h"
#include "pax/ir/transform.h"
#include "pax/ops/constant.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/reduce.h"

namespace pax {
namespace {

/// Results of the op: those of the function, then the residuals. Operands: inputs, then what is used from outside.
struct CustomGradient final : OpExtension {
  CustomGradient(size_t results, size_t inputs, Backward rule)
      : num_results(results), num_inputs(inputs), backward(std::move(rule)) {}
  size_t num_results;
  size_t num_inputs;
  Backward backward;
};

const CustomGradient& gradient_of(const OpCall& call) {
  return static_cast<const CustomGradient&>(*call.attr<std::shared_ptr<const OpExtension>>("_gradient"));
}

std::vector<Tensor> write_out(const OpCall& call) {
  ValueMap map;
  const std::vector<ValueId> args = call.graph.block(call.blocks[0]).args;
  for (size_t i = 0; i < args.size(); ++i) map[args[i]] = call.operands[i].id();
  return inline_block(call.graph, call.blocks[0], call.graph, map);
}

/// Where the gradient is differentiated, cotangents come to the residuals: they go back the ordinary way.
void add_through_residuals(const OpCall& call, const CustomGradient& gradient, Grads& grads) {
  std::vector<Tensor> outputs, cotangents, wrt;
  const std::vector<Tensor> copies = write_out(call);
  for (size_t i = gradient.num_results; i < copies.size(); ++i) {
    if (!call.grads[i]) continue;
    outputs.push_back(copies[i]);
    cotangents.push_back(call.grads[i]);
  }
  std::vector<size_t> wanted;
  for (size_t i = 0; i < call.operands.size(); ++i) {
    if (!call.wants(i)) continue;
    wanted.push_back(i);
    wrt.push_back(call.operands[i]);
  }
  const std::vector<Tensor> more = pullback(outputs, cotangents, wrt);
  for (size_t k = 0; k < more.size(); ++k) {
    Tensor& sum = grads[wanted[k]];
    if (more[k]) sum = sum ? sum + more[k] : more[k];
  }
}

Grads custom_gradient(const OpCall& call, Tensor) {
  const CustomGradient& gradient = gradient_of(call);
  bool results_flow = false;
  bool residuals_flow = false;
  for (size_t i = 0; i < call.grads.size(); ++i) {
    if (call.grads[i]) (i < gradient.num_results ? results_flow : residuals_flow) = true;
  }
  Grads grads(call.operands.size());
  if (results_flow) {
    const auto first = call.results.begin() + static_cast<ptrdiff_t>(gradient.num_results);
    const std::vector<Tensor> residuals(first, call.results.end());
    std::vector<Tensor> cotangents(call.grads.begin(),
                                   call.grads.begin() + static_cast<ptrdiff_t>(gradient.num_results));
    for (size_t i = 0; i < cotangents.size(); ++i) {
      if (!cotangents[i]) cotangents[i] = zeros_like(call.results[i]);
    }
    const Grads own = gradient.backward(residuals, cotangents);
    if (own.size() > gradient.num_inputs) {
      call.fail(fmt::format("the gradient is of {} inputs but there are {}", own.size(), gradient.num_inputs));
    }
    std::copy(own.begin(), own.end(), grads.begin());
  }
  if (residuals_flow) add_through_residuals(call, gradient, grads);
  return grads;
}

/// The rule of one element, run for the batch. `batched` says which residuals and cotangents carry the elements, and
/// which inputs do: the gradients of those that do not are summed over the elements.
Backward batch_rule(Backward rule, int64_t size, std::vector<bool> results, std::vector<bool> inputs,
                    size_t num_results) {
  return [=](std::span<const Tensor> residuals, std::span<const Tensor> cotangents) -> Grads {
    std::vector<Tensor> all(residuals.begin(), residuals.end());
    all.insert(all.end(), cotangents.begin(), cotangents.end());
    VmapOptions options{.size = size};
    for (size_t i = num_results; i < results.size(); ++i)
      options.dims.push_back(results[i] ? std::optional<int64_t>(0) : std::nullopt);
    for (size_t i = 0; i < num_results; ++i)
      options.dims.push_back(results[i] ? std::optional<int64_t>(0) : std::nullopt);
    Graph& graph = cotangents[0].graph();
    Grads grads = vmap(graph, all, options, [&](std::span<const Tensor> element) {
      return rule(element.first(residuals.size()), element.subspan(residuals.size()));
    });
    for (size_t i = 0; i < grads.size(); ++i) {
      if (grads[i] && !inputs[i]) grads[i] = reduce_sum(grads[i], {0});
    }
    return grads;
  };
}

std::vector<Tensor> batch_custom(const OpCall& call, const std::vector<bool>& batched) {
  const CustomGradient& gradient = gradient_of(call);
  const int64_t size = batch_size(call, batched);
  std::vector<bool> forced(call.results.size());
  // Cotangents of the results always carry the elements.
  for (size_t i = 0; i < gradient.num_results; ++i) forced[i] = true;
  const BatchedBlock body = batch_block(call.graph, call.blocks[0], size, batched, forced);
  Attrs attrs = call.attrs;
  attrs.set("_gradient", std::shared_ptr<const OpExtension>(std::make_shared<CustomGradient>(
                             gradient.num_results, gradient.num_inputs,
                             batch_rule(gradient.backward, size, body.results, batched, gradient.num_results))));
  return emit_all(call.graph, call.op, call.operands, std::move(attrs), {body.block});
}

constinit const OpDef kCustomVjp{.name = "custom_vjp",
                                 .infer = [](const OpCall& call) -> ResultTypes {
                                   std::vector<TensorType> types;
                                   for (const ValueId id : call.graph.block(call.blocks[0]).results)
                                     types.push_back(call.graph.value(id).type);
                                   return types;
                                 },
                                 .vjp = custom_gradient,
                                 .batch = batch_custom,
                                 .lower = [](const OpCall& call, const Target&) { return write_out(call); }};

}  // namespace

std::vector<Tensor> custom_vjp(Graph& graph, std::span<const Tensor> inputs,
                               const std::function<WithResiduals(std::span<const Tensor> inputs)>& forward,
                               Backward backward) {
  const BlockId block = graph.add_block(graph.current_block());
  std::vector<Tensor> args;
  for (const Tensor& input : inputs) args.push_back(graph.add_block_arg(block, input.type()));
  WithResiduals out;
  {
    const Graph::BlockGuard guard(graph, block);
    out = forward(args);
  }
  graph.block(block).sides.clear();
  for (const Tensor& result : out.results) graph.block(block).results.push_back(result.id());
  for (const Tensor& residual : out.residuals) graph.block(block).results.push_back(residual.id());
  std::vector<Tensor> operands(inputs.begin(), inputs.end());
  std::unordered_map<ValueId, ValueId> inside;
  for (const ValueId id : graph.captures(block)) {
    operands.push_back(graph.tensor(id));
    inside[id] = graph.add_block_arg(block, graph.value(id).type).id();
  }
  graph.replace_uses(block, inside);
  auto gradient = std::make_shared<CustomGradient>(out.results.size(), inputs.size(), std::move(backward));
  std::vector<Tensor> results =
      emit_all(graph, kCustomVjp, std::move(operands),
               {{"_gradient", std::shared_ptr<const OpExtension>(std::move(gradient))}}, {block});
  results.resize(out.results.size());
  return results;
}

}  // namespace pax
