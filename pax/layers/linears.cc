#include "pax/layers/linears.h"

#include "pax/ops/dot.h"

namespace pax {

Linear::Linear(const Config& config, const Scope& scope)
    : Layer(config, scope),
      w_(param("w", {.shape = {config.input_dims, config.output_dims}, .split = weight_split("wt")})) {}

Tensor Linear::fprop(Tensor x) const { return shard(einsum("...d,df->...f", x, w_), "out"); }

}  // namespace pax
