#pragma once

#include <utility>
#include <vector>

#include "pax/ir/op.h"

namespace pax {

enum class Order : uint8_t { kAscending, kDescending };

/// All `operands`, of one shape, brought along `dim` into the order of the first (its equals in the order of the next,
/// for `num_keys` operands). Stable; NaN comes last in ascending order.
std::vector<Tensor> sort(std::vector<Tensor> operands, int64_t dim, Order order = Order::kAscending,
                         int64_t num_keys = 1);
Tensor sort(Tensor x, int64_t dim = -1, Order order = Order::kAscending);

/// i32: the positions along `dim` in sorted order.
Tensor argsort(Tensor x, int64_t dim = -1, Order order = Order::kAscending);

/// The `k` largest elements of the last dimension in descending order, and their positions (i32).
std::pair<Tensor, Tensor> top_k(Tensor x, int64_t k);

}  // namespace pax
