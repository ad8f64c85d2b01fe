#include "pax/optim/inverse_root.h"

#include <cmath>

#include "pax/control/while_loop.h"
#include "pax/ops/broadcast.h"
#include "pax/ops/constant.h"
#include "pax/ops/convert.h"
#include "pax/ops/dot.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/logic.h"
#include "pax/ops/reduce.h"
#include "pax/ops/reshape.h"

namespace pax {
namespace {

const DotOptions kExact{.precision = Precision::kHighest};

Tensor product(Tensor a, Tensor b) { return matmul(a, b, kExact); }

/// x^p by squaring.
Tensor matrix_power(Tensor x, int64_t p) {
  Tensor result;
  for (; p > 0; p /= 2) {
    if (p % 2 == 1) result = result ? product(result, x) : x;
    if (p > 1) x = product(x, x);
  }
  return result;
}

/// Of each matrix; [..., 1, 1].
Tensor largest_entry(Tensor matrix) { return reduce_max(abs(matrix), {-2, -1}, Reduced::kKept); }
Tensor frobenius_norm(Tensor matrix) { return sqrt(reduce_sum(square(matrix), {-2, -1}, Reduced::kKept)); }

Tensor some(Tensor flags) {
  std::vector<int64_t> dims;
  for (int64_t i = 0; i < flags.rank(); ++i) dims.push_back(i);
  return reduce_or(flags, dims);
}

}  // namespace

Tensor identity_like(Tensor matrix) {
  Graph& graph = matrix.graph();
  const int64_t n = matrix.dim(-1);
  const TensorType type{DType::kS32, {n, n}};
  return broadcast_to(convert(eq(iota(graph, type, 0), iota(graph, type, 1)), matrix.dtype()), matrix.shape());
}

Tensor largest_eigenvalue(Tensor matrix, int64_t iterations) {
  Graph& graph = matrix.graph();
  std::vector<double> start;
  for (int64_t i = 0; i < matrix.dim(-1); ++i) start.push_back(std::cos(1.618 * static_cast<double>(i)));
  std::vector<int64_t> shape(matrix.shape().begin(), matrix.shape().end());
  shape.back() = 1;
  const Tensor column = constant(graph, from_doubles(start, {matrix.dtype(), {matrix.dim(-1), 1}}));
  const Tensor first = broadcast_to(column, Shape(shape));
  const auto unit = [](Tensor v) { return v / maximum(frobenius_norm(v), 1e-30); };
  const std::vector<Tensor> init{full(graph, {DType::kS32, {}}, 0), unit(first)};
  const Tensor v = while_loop(
      graph, init, [&](std::span<const Tensor> state) { return lt(state[0], static_cast<double>(iterations)); },
      [&](std::span<const Tensor> state) -> std::vector<Tensor> {
        return {state[0] + 1.0, unit(product(matrix, state[1]))};
      })[1];
  return reduce_sum(v * product(matrix, v), {-2, -1}, Reduced::kKept);
}

Tensor inverse_root(Tensor matrix, int64_t p, Tensor otherwise, const InverseRootOptions& options) {
  Graph& graph = matrix.graph();
  const Tensor identity = identity_like(matrix);
  const auto order = static_cast<double>(p);
  const Tensor scale = options.relative_ridge ? maximum(largest_eigenvalue(matrix), 1e-16) : Tensor();
  const Tensor damped = matrix + (scale ? options.ridge * scale * identity : options.ridge * identity);
  const Tensor z = (1 + order) / 2 / frobenius_norm(damped);

  const auto error_of = [&](Tensor m) { return largest_entry(m - identity); };
  // State: turn, M, H, H of the turn before, error, which matrices go on.
  const Tensor m0 = damped * z;
  const Tensor h0 = identity * power(z, 1 / order);
  const Tensor e0 = error_of(m0);
  const std::vector<Tensor> init{full(graph, {DType::kS32, {}}, 0), m0, h0, h0, e0, ge(e0, 0.0)};
  const std::vector<Tensor> last = while_loop(
      graph, init,
      [&](std::span<const Tensor> s) {
        return logical_and(lt(s[0], static_cast<double>(options.iterations)),
                           some(logical_and(s[5], gt(s[4], options.tolerance))));
      },
      [&](std::span<const Tensor> s) -> std::vector<Tensor> {
        const Tensor runs = logical_and(s[5], gt(s[4], options.tolerance));
        const Tensor step = (1 + 1 / order) * identity - s[1] / order;
        const Tensor m = product(matrix_power(step, p), s[1]);
        const Tensor error = error_of(m);
        // The error may rise a little before it falls; beyond that the iteration has failed.
        return {s[0] + 1.0,
                select(runs, m, s[1]),
                select(runs, product(s[2], step), s[2]),
                select(runs, s[2], s[3]),
                select(runs, error, s[4]),
                logical_and(s[5], logical_or(logical_not(runs), lt(error, s[4] * 1.2)))};
      });
  const Tensor root = select(last[5], last[2], last[3]);
  return select(lt(last[4], options.failure_threshold), root, otherwise);
}

}  // namespace pax
