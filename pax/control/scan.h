#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "pax/control/remat_policy.h"
#include "pax/ir/graph.h"

namespace pax {

struct ScanOptions {
  int64_t length = 0;
  /// From the last slice to the first.
  bool reverse = false;
  /// What the gradient keeps of each iteration; the rest is computed again. Null: everything it needs.
  std::shared_ptr<const RematPolicy> remat{};
  /// Ties `each_iteration` values to this loop: Graph::new_loop(). 0: none.
  int64_t loop = 0;
};

/// What a loop carries on to its next iteration, and what it hands out.
struct ScanStep {
  std::vector<Tensor> carry;
  std::vector<Tensor> ys;
};

/// Runs `body(carry, x)` `length` times over the leading dimension of `xs`; gives the last carry and every iteration's
/// `ys` stacked in front. Whatever else the body uses from outside is taken along. Side results of the body come out
/// stacked. One loop in the program, whatever the length.
ScanStep scan(Graph& graph, const ScanOptions& options, std::span<const Tensor> init, std::span<const Tensor> xs,
              const std::function<ScanStep(std::span<const Tensor> carry, std::span<const Tensor> x)>& body);

/// The slice of `stacked` that belongs to the present iteration of loop `loop`: weights of a repeated layer, whose
/// leading dimension counts the repetitions. Only of use inside that loop's body.
Tensor each_iteration(Tensor stacked, int64_t loop);

/// Which turn of which loop.
struct Iteration {
  int64_t loop;
  int64_t index;
};

/// Writes `body` out once, where `each_iteration` values of the loops named stand for the slices of that turn: a loop
/// unrolled by hand. Side results of the body are dropped.
std::vector<Tensor> write_iteration(Graph& graph, std::span<const Iteration> turn,
                                    const std::function<std::vector<Tensor>()>& body);

}  // namespace pax
