#pragma once

#include <string_view>

#include "pax/array/tree.h"
#include "pax/ir/tensor.h"

namespace pax {

/// Field `name` of a batch. Throws ShapeError naming it and the fields that there are.
Tensor batch_field(const Tree<Tensor>& batch, std::string_view name);
/// The same, of shape [B, T] like that of field `like`.
Tensor batch_field(const Tree<Tensor>& batch, std::string_view name, std::string_view like);
/// Null when there is none.
Tensor optional_batch_field(const Tree<Tensor>& batch, std::string_view name);

}  // namespace pax
