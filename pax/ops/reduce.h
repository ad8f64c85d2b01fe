#pragma once

#include <vector>

#include "pax/ir/op.h"

namespace pax {

/// Sum over `dims`, which disappear from the shape. bfloat16 and float16 accumulate in float32.
Tensor reduce_sum(Tensor x, std::vector<int64_t> dims);

}  // namespace pax
