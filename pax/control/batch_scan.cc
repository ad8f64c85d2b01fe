#include "pax/autodiff/vmap.h"
#include "pax/control/scan_op.h"
#include "pax/ops/broadcast.h"
#include "pax/ops/reshape.h"

namespace pax {
namespace {

/// The body for the batch, where a carry that becomes batched in one iteration is batched from the start: grows until
/// nothing is added.
BatchedBlock batch_body(const OpCall& call, const ScanLayout& layout, int64_t size, std::vector<bool>& batched) {
  while (true) {
    std::vector<bool> forced(call.graph.block(call.blocks[0]).results.size());
    for (size_t i = 0; i < layout.num_carry; ++i) forced[i] = batched[i];
    BatchedBlock body = batch_block(call.graph, call.blocks[0], size, batched, forced);
    bool grew = false;
    for (size_t i = 0; i < layout.num_carry; ++i) {
      if (!body.results[i] || batched[i]) continue;
      batched[i] = true;
      grew = true;
    }
    if (!grew) return body;
  }
}

}  // namespace

/// Scanned inputs and ys carry the elements behind the iterations: [length, batch, …].
std::vector<Tensor> batch_scan(const OpCall& call, const std::vector<bool>& operands_batched) {
  const ScanLayout layout(call);
  const int64_t size = batch_size(call, operands_batched);
  std::vector<bool> batched = operands_batched;
  const BatchedBlock body = batch_body(call, layout, size, batched);
  std::vector<Tensor> operands = call.operands;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (batched[i] && !operands_batched[i]) operands[i] = repeat_in_front(operands[i], size);
    const bool scanned = i >= layout.num_carry && i < layout.num_carry + layout.num_xs;
    if (batched[i] && scanned) operands[i] = move_dim(operands[i], 0, 1);
  }
  std::vector<Tensor> results = emit_all(call.graph, call.op, std::move(operands), call.attrs, {body.block});
  for (size_t i = layout.num_carry; i < results.size(); ++i) {
    if (body.results[i]) results[i] = move_dim(results[i], 1, 0);
  }
  return results;
}

}  // namespace pax
