#include "pax/ops/custom_call.h"

#include <fmt/format.h>

#include "pax/ops/all_ops.h"

namespace pax {
namespace {

struct ResultsOfCall final : OpExtension {
  explicit ResultsOfCall(std::vector<TensorType> all) : types(std::move(all)) {}
  std::vector<TensorType> types;
};

constinit const OpDef kCustomCall{.name = "custom_call", .infer = [](const OpCall& call) -> ResultTypes {
                                    const auto& results = call.attr<std::shared_ptr<const OpExtension>>("_results");
                                    return static_cast<const ResultsOfCall&>(*results).types;
                                  }};

constexpr const OpDef* kOps[] = {&kCustomCall};

}  // namespace

std::span<const OpDef* const> custom_call_ops() { return kOps; }

std::vector<Tensor> custom_call(Graph& graph, std::vector<Tensor> operands, CustomCall call) {
  Attrs attrs = std::move(call.attrs);
  attrs.set("call_target_name", std::move(call.target));
  attrs.set("api_version", Mlir{fmt::format("{} : i32", call.api_version)});
  attrs.set("backend_config", Mlir{std::move(call.config)});
  attrs.set("has_side_effect", call.has_side_effect);
  attrs.set("_results", std::shared_ptr<const OpExtension>(std::make_shared<ResultsOfCall>(std::move(call.results))));
  return emit_all(graph, kCustomCall, std::move(operands), std::move(attrs), {});
}

}  // namespace pax
