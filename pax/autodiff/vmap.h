#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "pax/ir/graph.h"

namespace pax {

struct VmapOptions {
  /// For each input the dimension that counts the elements, negative from the end; none: the same for all elements.
  /// Empty: dimension 0 of every input.
  std::vector<std::optional<int64_t>> dims{};
  /// How many elements; to be given where no input says it.
  int64_t size = 0;
};

/// Runs `body`, written for one element, on a whole batch at once: every result carries the elements in front. What the
/// body uses from outside is the same for all. Side results of the body come out with the elements in front. Loops,
/// branches and gradients may stand inside and around. Throws ShapeError when the sizes differ or an op has no batches.
std::vector<Tensor> vmap(Graph& graph, std::span<const Tensor> inputs, const VmapOptions& options,
                         const std::function<std::vector<Tensor>(std::span<const Tensor>)>& body);

/// Every input by its dimension 0.
std::vector<Tensor> vmap(std::span<const Tensor> inputs,
                         const std::function<std::vector<Tensor>(std::span<const Tensor>)>& body);

// For the batching rules of ops with regions.

/// A block for the whole batch.
struct BatchedBlock {
  BlockId block = -1;
  std::vector<bool> results;  ///< Which results carry the elements in front.
};

/// `body`, which uses nothing from outside, for `size` elements: arguments at `batched` carry the elements in front.
/// Results at `forced` (or none) carry them whether they depend on such an argument or not.
BatchedBlock batch_block(Graph& graph, BlockId body, int64_t size, const std::vector<bool>& batched,
                         const std::vector<bool>& forced = {});

/// The nodes of `body` for `size` elements, written where the graph is being written; `args` stand for its arguments.
/// Results carry the elements in front where their rank is one more than in `body`.
std::vector<Tensor> inline_batched(Graph& graph, BlockId body, int64_t size, std::span<const Tensor> args,
                                   const std::vector<bool>& batched);

/// The number of elements: the leading dimension of the first operand of `call` that is batched.
int64_t batch_size(const OpCall& call, const std::vector<bool>& batched);

}  // namespace pax
