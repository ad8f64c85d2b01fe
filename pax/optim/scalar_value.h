#pragma once

#include "pax/ir/tensor.h"

namespace pax {

/// The number that a scalar of constants stands for, computed on the host op by op and rounded to each op's element
/// type. Throws ShapeError for ops that are not arithmetic of scalars.
double scalar_value(Tensor scalar);

}  // namespace pax
