#pragma once

#include <functional>

#include "pax/array/tree.h"
#include "pax/ir/graph.h"

namespace pax {

/// `while_loop` over named values.
Tree<Tensor> loop_while(Graph& graph, const Tree<Tensor>& init,
                        const std::function<Tensor(const Tree<Tensor>&)>& condition,
                        const std::function<void(Tree<Tensor>&)>& body);

/// The cache among a loop's values: what is named `cache/…`.
Tree<Tensor> cache_of(const Tree<Tensor>& state);
void put_cache(Tree<Tensor>& state, const Tree<Tensor>& cache);

}  // namespace pax
