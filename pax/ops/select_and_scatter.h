#pragma once

#include "pax/ops/window.h"

namespace pax {

enum class SelectBy : uint8_t { kMax, kMin };

/// Zeros of x's shape, to which each element of `source` is added where the largest (smallest) element of x under its
/// place of the window is, the first of equal ones. The window's dilations must be 1. No gradient reaches x.
Tensor select_and_scatter_add(Tensor x, Tensor source, const Window& window, SelectBy by);

/// The reverse: for every place of the window the element of `values` that stands where x is chosen.
Tensor select_and_gather(Tensor x, Tensor values, const Window& window, SelectBy by);

}  // namespace pax
