#include "pax/layers/ngrammer/vector_quantization.h"

#include <fmt/format.h>

#include "pax/base/error.h"
#include "pax/ops/convert.h"
#include "pax/ops/dot.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/gather.h"
#include "pax/ops/logic.h"
#include "pax/ops/reduce.h"
#include "pax/ops/reshape.h"

namespace pax {

VectorQuantization::VectorQuantization(const Config& config, const Scope& scope)
    : Layer(config, scope), config_(config) {
  if (config.num_clusters < 1 || config.num_heads < 1 || config.dim_per_head < 1) {
    pax::fail<ConfigError>("{}: num_clusters is {}, num_heads {} and dim_per_head {}; set each to 1 or more",
                           scope.path(), config.num_clusters, config.num_heads, config.dim_per_head);
  }
  means_ = param("means", {.shape = {config.num_heads, config.num_clusters, config.dim_per_head},
                           .collection = Collection::kNonTrainable});
}

VectorQuantization::Output VectorQuantization::quantize(Tensor x, Tensor paddings) const {
  const int64_t heads = config_.num_heads, size = config_.dim_per_head;
  const bool fits = x.rank() == 3 ? x.dim(2) == heads * size : x.rank() == 4 && x.dim(2) == heads && x.dim(3) == size;
  if (!fits) {
    fail(fmt::format("input is {}; it must be [B, L, {}] or [B, L, {}, {}]", to_string(x.type()), heads * size, heads,
                     size));
  }
  x = reshape(convert(x, fprop_dtype()), {x.dim(0), x.dim(1), heads, size});
  if (config_.prenormalize) {
    const Tensor norm = sqrt(reduce_sum(square(x), {3}, Reduced::kKept));
    x = x / select(gt(norm, 0.0), norm, 1.0);
  }
  const Tensor squares = reduce_sum(square(means_), {2});  // [N, K]
  const Tensor dists =
      einsum("blnh,nkh->blnk", x, means_) * -2.0 + (reduce_sum(square(x), {3}, Reduced::kKept) + squares);
  Tensor nearest = one_hot(argmin(dists, 3), config_.num_clusters, means_.dtype());
  if (paddings) nearest = nearest * expand_dims(expand_dims(1.0 - convert(paddings, nearest.dtype()), -1), -1);
  if (!do_eval()) move_centres(x, nearest);
  return {.dists = dists, .nearest_centroid = einsum("blnk,nkh->blnh", nearest, means_)};
}

void VectorQuantization::move_centres(Tensor x, Tensor nearest) const {
  const Tensor count = expand_dims(reduce_sum(nearest, {0, 1}), -1);
  const Tensor centre = einsum("blnk,blnh->nkh", nearest, x) / (count + config_.epsilon);
  const Tensor next = centre * (1.0 - config_.decay) + means_ * config_.decay;
  scope().update("means", convert(next, scope().inherited().dtype));
}

template const config::ConfigType& config::type_of<VectorQuantization::Config>();

}  // namespace pax
