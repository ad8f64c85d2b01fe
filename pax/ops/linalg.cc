#include "pax/ops/linalg.h"

#include <fmt/format.h>

#include "pax/ops/all_ops.h"
#include "pax/ops/broadcast.h"
#include "pax/ops/constant.h"
#include "pax/ops/dot.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/logic.h"
#include "pax/ops/require.h"
#include "pax/ops/reshape.h"

namespace pax {
namespace {

void require_square(const OpCall& call) {
  require_floating(call, 0);
  if (call.shape(0).rank() >= 2 && call.shape(0)[-1] == call.shape(0)[-2]) return;
  call.fail(fmt::format("operand 0 is {}, but its last two dimensions must be equal", to_string(call.type(0))));
}

Tensor transposed(Tensor x) { return swap_dims(x, -1, -2); }
Tensor product(Tensor a, Tensor b) { return matmul(a, b, {.precision = Precision::kHighest}); }

/// With P the lower half of Lᵀ dL, its diagonal halved, S = L⁻ᵀ P L⁻¹; the gradient of the triangle that is read is
/// the lower one of S + Sᵀ, the diagonal once (Murray 2016).
Grads cholesky_vjp(const OpCall& call, Tensor grad) {
  const Tensor l = call.output();
  const Tensor p = product(transposed(l), lower_triangle(grad));
  const Tensor half = (lower_triangle(p) + lower_triangle(p, -1)) * 0.5;
  const Tensor left = triangular_solve(l, half, {.transposed = true});
  const Tensor s = triangular_solve(l, left, {.side = Side::kRight});
  return {lower_triangle(s) + lower_triangle(transposed(s), -1)};
}

constinit const OpDef kCholesky{.name = "cholesky",
                                .infer = [](const OpCall& call) -> ResultTypes {
                                  require_square(call);
                                  return call.type(0);
                                },
                                .vjp = cholesky_vjp,
                                .batch = [](const OpCall& call, const std::vector<bool>&) -> std::vector<Tensor> {
                                  return {emit(call.op, call.operands, call.attrs)};
                                }};

TriangularOptions options_of(const OpCall& call) {
  return {.side = call.attr<bool>("left_side") ? Side::kLeft : Side::kRight,
          .lower = call.attr<bool>("lower"),
          .transposed = call.attr<bool>("_transposed"),
          .unit_diagonal = call.attr<bool>("unit_diagonal")};
}

/// Operands: a, b.
ResultTypes infer_solve(const OpCall& call) {
  require_square(call);
  require_same_dtype(call, 0, 1);
  const Shape& a = call.shape(0);
  const Shape& b = call.shape(1);
  const bool left = call.attr<bool>("left_side");
  if (a.rank() != b.rank() || a[-1] != b[left ? -2 : -1] || a.without(-1).without(-1) != b.without(-1).without(-1)) {
    call.fail(fmt::format("a is {} and b is {}: dimension {} from the end of b must be {}, and those in front equal",
                          to_string(call.type(0)), to_string(call.type(1)), left ? 2 : 1, a[-1]));
  }
  return call.type(1);
}

/// a X = b: db = a⁻ᵀ dX, da = -db Xᵀ in the triangle that is read; and so on for the other forms.
Grads solve_vjp(const OpCall& call, Tensor grad) {
  const TriangularOptions options = options_of(call);
  TriangularOptions back = options;
  back.transposed = !options.transposed;
  const Tensor x = call.output();
  const Tensor db = triangular_solve(call.operand(0), grad, back);
  if (!call.wants(0)) return {Tensor(), db};
  const bool left = options.side == Side::kLeft;
  const Tensor full_da = left ? product(db, transposed(x)) : product(transposed(x), db);
  const Tensor da = -(options.transposed ? transposed(full_da) : full_da);
  const int64_t inside = options.unit_diagonal ? 1 : 0;
  return {options.lower ? lower_triangle(da, -inside) : upper_triangle(da, inside), db};
}

constinit const OpDef kTriangularSolve{
    .name = "triangular_solve",
    .infer = infer_solve,
    .vjp = solve_vjp,
    .batch = [](const OpCall& call, const std::vector<bool>& batched) -> std::vector<Tensor> {
      const int64_t size = call.shape(batched[0] ? 0 : 1)[0];
      const auto alike = [&](size_t i) {
        return batched[i] ? call.operand(i) : repeat_in_front(call.operand(i), size);
      };
      return {emit(call.op, {alike(0), alike(1)}, call.attrs)};
    }};

constexpr const OpDef* kOps[] = {&kCholesky, &kTriangularSolve};

/// Column minus row of every element.
Tensor diagonal_of(Tensor x) {
  const TensorType type{DType::kS32, x.shape()};
  return iota(x.graph(), type, x.rank() - 1) - iota(x.graph(), type, x.rank() - 2);
}

void require_matrix(std::string_view op, Tensor x) {
  if (x.rank() < 2) fail_op(x.graph(), op, fmt::format("{} has no two last dimensions", to_string(x.type())));
}

}  // namespace

std::span<const OpDef* const> linalg_ops() { return kOps; }

Tensor cholesky(Tensor x) {
  require_matrix("cholesky", x);
  if (x.dim(-1) != x.dim(-2)) emit(kCholesky, {x});
  return lower_triangle(emit(kCholesky, {(x + transposed(x)) * 0.5}, {{"lower", true}}));
}

Tensor triangular_solve(Tensor a, Tensor b, TriangularOptions options) {
  return emit(kTriangularSolve, {a, b},
              {{"left_side", options.side == Side::kLeft},
               {"lower", options.lower},
               {"unit_diagonal", options.unit_diagonal},
               {"transpose_a",
                Mlir{options.transposed ? "#stablehlo<transpose TRANSPOSE>" : "#stablehlo<transpose NO_TRANSPOSE>"}},
               {"_transposed", options.transposed}});
}

Tensor lower_triangle(Tensor x, int64_t k) {
  require_matrix("lower_triangle", x);
  return select(le(diagonal_of(x), static_cast<double>(k)), x, 0.0);
}

Tensor upper_triangle(Tensor x, int64_t k) {
  require_matrix("upper_triangle", x);
  return select(ge(diagonal_of(x), static_cast<double>(k)), x, 0.0);
}

}  // namespace pax
