#include "pax/ops/all_ops.h"
#include "pax/ops/convert.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/identity.h"
#include "pax/ops/logic.h"
#include "pax/ops/reduce.h"
#include "pax/ops/require.h"
#include "pax/ops/reshape.h"

namespace pax {
namespace {

Tensor at_least_f32(Tensor x) { return byte_size(x.dtype()) < 4 ? convert(x, DType::kF32) : x; }

/// The largest element along `dim`, 0 where that is infinite, so that it can be subtracted.
Tensor finite_max(Tensor x, std::vector<int64_t> dims) {
  const Tensor largest = stop_gradient(reduce_max(x, std::move(dims), Reduced::kKept));
  return select(is_finite(largest), largest, 0.0);
}

std::vector<Tensor> batch_along(const OpCall& call, const std::vector<bool>&) {
  return {emit(call.op, call.operands, {{"_dim", call.attr<int64_t>("_dim") + 1}})};
}

/// dx = y (dy - sum(dy y)).
constinit const OpDef kSoftmax{.name = "softmax",
                               .infer = floating_operand,
                               .vjp = [](const OpCall& call, Tensor grad) -> Grads {
                                 const Tensor y = at_least_f32(call.output());
                                 const Tensor dy = at_least_f32(grad);
                                 const Tensor mean = reduce_sum(dy * y, {call.attr<int64_t>("_dim")}, Reduced::kKept);
                                 return {convert(y * (dy - mean), grad.dtype())};
                               },
                               .batch = batch_along,
                               .lower = [](const OpCall& call, const Target&) -> std::vector<Tensor> {
                                 const int64_t dim = call.attr<int64_t>("_dim");
                                 const Tensor x = at_least_f32(call.operand(0));
                                 const Tensor e = exp(x - reduce_max(x, {dim}, Reduced::kKept));
                                 return {convert(e / reduce_sum(e, {dim}, Reduced::kKept), call.type(0).dtype)};
                               }};

/// dx = dy - e^y sum(dy).
constinit const OpDef kLogSoftmax{.name = "log_softmax",
                                  .infer = floating_operand,
                                  .vjp = [](const OpCall& call, Tensor grad) -> Grads {
                                    const Tensor dy = at_least_f32(grad);
                                    const Tensor total = reduce_sum(dy, {call.attr<int64_t>("_dim")}, Reduced::kKept);
                                    return {convert(dy - exp(at_least_f32(call.output())) * total, grad.dtype())};
                                  },
                                  .batch = batch_along,
                                  .lower = [](const OpCall& call, const Target&) -> std::vector<Tensor> {
                                    const int64_t dim = call.attr<int64_t>("_dim");
                                    const Tensor x = at_least_f32(call.operand(0));
                                    const Tensor shifted = x - reduce_max(x, {dim}, Reduced::kKept);
                                    const Tensor total = log(reduce_sum(exp(shifted), {dim}, Reduced::kKept));
                                    return {convert(shifted - total, call.type(0).dtype)};
                                  }};

constexpr const OpDef* kOps[] = {&kSoftmax, &kLogSoftmax};

}  // namespace

std::span<const OpDef* const> softmax_ops() { return kOps; }

Tensor softmax(Tensor x, int64_t dim) { return emit(kSoftmax, {x}, {{"_dim", resolve_dim("softmax", x, dim)}}); }

Tensor log_softmax(Tensor x, int64_t dim) {
  return emit(kLogSoftmax, {x}, {{"_dim", resolve_dim("log_softmax", x, dim)}});
}

Tensor logsumexp(Tensor x, std::vector<int64_t> dims, Reduced reduced) {
  dims = resolve_dims("logsumexp", x, std::move(dims));
  const Tensor wide = at_least_f32(x);
  const Tensor largest = finite_max(wide, dims);
  const Tensor kept = log(reduce_sum(exp(wide - largest), dims, Reduced::kKept)) + largest;
  const Tensor result = convert(kept, x.dtype());
  return reduced == Reduced::kKept ? result : squeeze(result, dims);
}

}  // namespace pax
