#include "pax/ops/attention.h"

#include <fmt/format.h>

#include "pax/ops/all_ops.h"
#include "pax/ops/broadcast.h"
#include "pax/ops/convert.h"
#include "pax/ops/custom_call.h"
#include "pax/ops/dot.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/logic.h"
#include "pax/ops/reduce.h"
#include "pax/ops/reshape.h"

namespace pax {
namespace {

// B: batch, T: queries, S: keys, N: heads, H: dimension of a head.

void require_fit(const OpCall& call) {
  const Shape &q = call.shape(0), &k = call.shape(1), &m = call.shape(3);
  const auto fits = [](int64_t size, int64_t whole) { return size == 1 || size == whole; };
  const bool ranks = q.rank() == 4 && k.rank() == 4 && m.rank() == 4;
  if (!ranks || call.type(1) != call.type(2) || call.type(0).dtype != call.type(1).dtype || q[0] != k[0] ||
      q[2] != k[2] || q[3] != k[3] || !fits(m[0], q[0]) || m[1] != 1 || !fits(m[2], q[1]) || m[3] != k[1]) {
    call.fail(fmt::format(
        "query {}, key {}, value {} and mask {} must be [B, T, N, H], [B, S, N, H] twice and "
        "[1 or B, 1, 1 or T, S]",
        to_string(call.type(0)), to_string(call.type(1)), to_string(call.type(2)), to_string(call.type(3))));
  }
}

Tensor at_least_f32(Tensor x) { return byte_size(x.dtype()) < 4 ? convert(x, DType::kF32) : x; }

/// The weights and, with a cap, how fast the capped logits change.
struct Weights {
  Tensor probs, slope, allowed;
};
Weights weights(const OpCall& call) {
  const double cap = call.attr<double>("_cap");
  Tensor logits = einsum("btnh,bsnh->bnts", call.operand(0), call.operand(1));
  Weights out;
  if (cap > 0) {
    const Tensor bent = tanh(logits / cap);
    out.slope = 1.0 - bent * bent;
    logits = bent * cap;
  }
  logits = at_least_f32(logits);
  const double lowest = -0.7 * max_finite(DType::kF32);
  out.allowed = broadcast_to(ge(call.operand(3), 0.5 * lowest), logits.shape());
  out.probs = softmax(select(out.allowed, logits, lowest));
  return out;
}

bool by_kernel(const OpCall& call, const Target& target) {
  const DType dtype = call.type(0).dtype;
  return target.tile_products && !target.partitioned && (dtype == DType::kF32 || dtype == DType::kBF16);
}

std::vector<Tensor> call_kernel(const OpCall& call, std::string name, std::vector<TensorType> results) {
  return custom_call(call.graph, call.operands,
                     {.target = std::move(name),
                      .results = std::move(results),
                      .config = fmt::format("{{cap = {:.17e} : f64}}", call.attr<double>("_cap"))});
}

std::vector<Tensor> lower_attention(const OpCall& call, const Target& target) {
  if (by_kernel(call, target)) return call_kernel(call, "pax_attention", {call.type(0)});
  const Tensor probs = convert(weights(call).probs, call.type(0).dtype);
  return {einsum("bnts,bsnh->btnh", probs, call.operand(2))};
}

/// With P the weights and G the cotangent: dV = P'G, dP = GV', dS = P (dP - sum(P dP)), dQ = dS K, dK = dS'Q.
std::vector<Tensor> lower_gradient(const OpCall& call, const Target& target) {
  if (by_kernel(call, target)) {
    return call_kernel(call, "pax_attention_grad", {call.type(0), call.type(1), call.type(2)});
  }
  const Tensor grad = call.operand(4);
  const DType dtype = grad.dtype();
  const Weights w = weights(call);
  const Tensor d_probs = at_least_f32(einsum("btnh,bsnh->bnts", grad, call.operand(2)));
  const Tensor mean = reduce_sum(w.probs * d_probs, {3}, Reduced::kKept);
  Tensor d_logits = convert(select(w.allowed, w.probs * (d_probs - mean), 0.0), dtype);
  if (w.slope) d_logits = d_logits * w.slope;
  return {einsum("bnts,bsnh->btnh", d_logits, call.operand(1)), einsum("bnts,btnh->bsnh", d_logits, call.operand(0)),
          einsum("bnts,btnh->bsnh", convert(w.probs, dtype), grad)};
}

/// One more dimension in front becomes part of the batch.
std::vector<Tensor> with_larger_batch(const OpCall& call, const std::vector<bool>& batched) {
  int64_t size = 0;
  for (size_t i = 0; i < batched.size(); ++i) {
    if (batched[i]) size = call.shape(i)[0];
  }
  int64_t batch = 0;
  for (size_t i = 0; i < 3; ++i) batch = call.shape(i)[batched[i] ? 1 : 0];
  std::vector<Tensor> operands;
  for (size_t i = 0; i < batched.size(); ++i) {
    Tensor x = call.operand(i);
    if (!batched[i]) x = expand_dims(x, 0);
    Shape shape = x.shape();
    shape[0] = size;
    shape[1] = batch;
    operands.push_back(merge_dims(broadcast_to(x, shape), 0, 1));
  }
  std::vector<Tensor> results = emit_all(call.graph, call.op, std::move(operands), call.attrs, {});
  for (Tensor& result : results) result = split_dim(result, 0, {size, batch});
  return results;
}

constinit const OpDef kAttentionGrad{.name = "attention_grad",
                                     .infer = [](const OpCall& call) -> ResultTypes {
                                       require_fit(call);
                                       return std::vector<TensorType>{call.type(0), call.type(1), call.type(2)};
                                     },
                                     .batch = with_larger_batch,
                                     .lower = lower_gradient};

constinit const OpDef kAttention{.name = "attention",
                                 .infer = [](const OpCall& call) -> ResultTypes {
                                   require_fit(call);
                                   return call.type(0);
                                 },
                                 .vjp = [](const OpCall& call, Tensor grad) -> Grads {
                                   std::vector<Tensor> operands = call.operands;
                                   operands.push_back(grad);
                                   return emit_all(call.graph, kAttentionGrad, std::move(operands), call.attrs, {});
                                 },
                                 .batch = with_larger_batch,
                                 .lower = lower_attention};

constexpr const OpDef* kOps[] = {&kAttentionGrad, &kAttention};

}  // namespace

std::span<const OpDef* const> attention_ops() { return kOps; }

Tensor attention(Tensor query_btnh, Tensor key_bsnh, Tensor value_bsnh, Tensor mask, AttentionOptions options) {
  return emit(kAttention, {query_btnh, key_bsnh, value_bsnh, convert(mask, DType::kF32)},
              {{"_cap", options.logit_cap}});
}

}  // namespace pax
