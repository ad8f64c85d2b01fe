#include "pax/params/orthogonal.h"

#include <algorithm>
#include <cmath>

#include "pax/base/error.h"
#include "pax/ops/convert.h"
#include "pax/ops/dot.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/random.h"
#include "pax/ops/reduce.h"
#include "pax/ops/reshape.h"
#include "pax/ops/slice.h"

namespace pax {

Tensor nearest_orthogonal(Tensor x, int iterations) {
  const DotOptions exact{.precision = Precision::kHighest};
  const bool tall = x.dim(-2) > x.dim(-1);
  if (tall) x = swap_dims(x, -2, -1);
  // Below the norm of the matrix every singular value is at most 1, where the iteration converges.
  x = x / sqrt(reduce_sum(square(x), {-2, -1}, Reduced::kKept));
  for (int i = 0; i < iterations; ++i) {
    const Tensor gram = matmul(x, swap_dims(x, -2, -1), exact);
    x = 1.5 * x - 0.5 * matmul(gram, x, exact);
  }
  return tall ? swap_dims(x, -2, -1) : x;
}

Tensor delta_orthogonal(Tensor key, const TensorType& type) {
  const Shape& shape = type.shape;
  if (shape.rank() > 5) {
    fail<ConfigError>("delta_orthogonal init: {} has more than five dimensions; choose another method",
                      to_string(type));
  }
  const double scale = std::max(1.0, std::sqrt(static_cast<double>(shape[-2]) / static_cast<double>(shape[-1])));
  Tensor out = nearest_orthogonal(random_normal(key, {DType::kF32, {shape[-2], shape[-1]}})) * scale;
  const int64_t batch = key.rank() - 1;
  for (int64_t i = shape.rank() - 3; i >= 0; --i) {
    const int64_t before = (shape[i] - 1) / 2;
    out = pad_dim(expand_dims(out, batch), batch, before, shape[i] - 1 - before);
  }
  return convert(out, type.dtype);
}

}  // namespace pax
