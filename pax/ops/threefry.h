#pragma once

#include <utility>

#include "pax/ir/tensor.h"

namespace pax {

/// Threefry-2x32 with 20 rounds, element by element on u32 of one shape: the words that key (k0, k1) makes of (x0, x1).
std::pair<Tensor, Tensor> threefry2x32(std::pair<Tensor, Tensor> key, std::pair<Tensor, Tensor> words);

}  // namespace pax
