#include "pax/ops/all_ops.h"

namespace pax {

std::vector<const OpDef*> all_ops() {
  std::vector<const OpDef*> all;
  for (const auto& ops : {activation_ops(), arg_ops(),           arithmetic_ops(),  attention_ops(),  broadcast_ops(),
                          constant_ops(),   convert_ops(),       convolution_ops(), cumulative_ops(), custom_call_ops(),
                          dot_ops(),        dynamic_slice_ops(), gather_ops(),      identity_ops(),   linalg_ops(),
                          logic_ops(),      math_ops(),          random_ops(),      reduce_ops(),     reshape_ops(),
                          scatter_ops(),    slice_ops(),         softmax_ops(),     sort_ops(),       window_ops()}) {
    all.insert(all.end(), ops.begin(), ops.end());
  }
  return all;
}

}  // namespace pax
