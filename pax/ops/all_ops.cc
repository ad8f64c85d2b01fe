#include "pax/ops/all_ops.h"

namespace pax {

std::vector<const OpDef*> all_ops() {
  std::vector<const OpDef*> all;
  for (const auto& ops : {arg_ops(), arithmetic_ops(), broadcast_ops(), constant_ops(), convert_ops(), dot_ops(),
                          dynamic_slice_ops(), gather_ops(), identity_ops(), logic_ops(), math_ops(), reduce_ops(),
                          reshape_ops(), scatter_ops(), slice_ops(), softmax_ops()}) {
    all.insert(all.end(), ops.begin(), ops.end());
  }
  return all;
}

}  // namespace pax
