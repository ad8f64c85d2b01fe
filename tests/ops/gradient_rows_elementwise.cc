#include "pax/ops/activations.h"
#include "pax/ops/constant.h"
#include "pax/ops/convert.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/identity.h"
#include "pax/ops/logic.h"
#include "tests/ops/gradient_rows.h"

namespace pax {
namespace {

using Tensors = std::vector<Tensor>;

GradientRow unary(std::string name, Tensor (*op)(Tensor), double low = -2, double high = 2) {
  return {std::move(name), {{{2, 5}, low, high}}, [op](const Tensors& x) { return Tensors{op(x[0])}; }};
}

/// Both operands of one shape, and broadcast from both sides.
std::vector<GradientRow> binary(const std::string& name, Tensor (*op)(Tensor, Tensor), double low, double high) {
  const Function f = [op](const Tensors& x) { return Tensors{op(x[0], x[1])}; };
  return {{name, {{{3, 4}, low, high}, {{3, 4}, low, high}}, f},
          {name + "_broadcast", {{{3, 1, 4}, low, high}, {{2, 1}, low, high}}, f},
          {name + "_scalar", {{{}, low, high}, {{5}, low, high}}, f}};
}

DType same_width_integer(DType dtype) {
  return byte_size(dtype) == 8 ? DType::kS64 : byte_size(dtype) == 4 ? DType::kS32 : DType::kS16;
}

}  // namespace

std::vector<GradientRow> elementwise_rows() {
  std::vector<GradientRow> rows = {
      unary("negate", negate),
      unary("abs", abs),
      unary("sign", sign),
      unary("square", square),
      unary("reciprocal", reciprocal, 0.5, 2),
      unary("exp", exp),
      unary("expm1", expm1),
      unary("log", log, 0.2, 3),
      unary("log1p", log1p, -0.8, 3),
      unary("logistic", logistic),
      unary("tanh", tanh),
      unary("sqrt", sqrt, 0.3, 3),
      unary("rsqrt", rsqrt, 0.3, 3),
      unary("cbrt", cbrt, 0.3, 3),
      unary("cbrt_below_0", cbrt, -3, -0.3),
      unary("sine", sine),
      unary("cosine", cosine),
      unary("tan", tan, -1, 1),
      unary("floor", floor),
      unary("ceil", ceil),
      unary("round_nearest_even", round_nearest_even),
      unary("round_nearest_afz", round_nearest_afz),
      unary("erf", erf),
      unary("erfc", erfc),
      unary("erf_inv", erf_inv, -0.9, 0.9),
      unary("softplus", softplus),
      unary("relu", relu),
      unary("relu6", relu6, -3, 9),
      unary("silu", silu),
      unary("squared_relu", squared_relu),
      {"lgamma", {{{6}, 0.5, 4}}, [](const Tensors& x) { return Tensors{lgamma(x[0])}; }, 1e-6, false},
      {"leaky_relu", {{{6}}}, [](const Tensors& x) { return Tensors{leaky_relu(x[0], 0.1)}; }},
      {"elu", {{{6}, -3, 3}}, [](const Tensors& x) { return Tensors{elu(x[0], 1.5)}; }},
      {"gelu", {{{6}, -3, 3}}, [](const Tensors& x) { return Tensors{gelu(x[0])}; }},
      {"gelu_exact", {{{6}, -3, 3}}, [](const Tensors& x) { return Tensors{gelu(x[0], Gelu::kExact)}; }},
      {"power_number", {{{6}, 0.5, 3}}, [](const Tensors& x) { return Tensors{power(x[0], 2.7)}; }},
      {"power_negative_base", {{{6}, -2, -1}}, [](const Tensors& x) { return Tensors{power(x[0], 3)}; }},
      {"clamp",
       {{{9}, -1, 0}, {{9}, -2, 2}, {{9}, 0.1, 1}},
       [](const Tensors& x) { return Tensors{clamp(x[0], x[1], x[2])}; }},
      {"clamp_scalars",
       {{{}, -1, 0}, {{9}, -2, 2}, {{}, 0.1, 1}},
       [](const Tensors& x) { return Tensors{clamp(x[0], x[1], x[2])}; }},
      {"select",
       {{{2, 3}}, {{2, 3}}},
       [](const Tensors& x) { return Tensors{select(gt(x[0], 0.0), x[0] * x[1], x[1])}; }},
      {"select_broadcast",
       {{{2, 1}}, {{3}}},
       [](const Tensors& x) { return Tensors{select(gt(x[0], 0.0), x[0], x[1])}; }},
      {"numbers",
       {{{4}, 0.5, 2}},
       [](const Tensors& x) {
         return Tensors{(1.0 - x[0]) * 3.0 + 2.0 / x[0] - 0.5, (2.0 + x[0]) / 4.0, maximum(x[0], 1), minimum(x[0], 1)};
       }},
      {"convert",
       {{{4}}},
       [](const Tensors& x) { return Tensors{convert(square(convert(x[0], DType::kF32)), x[0].dtype())}; },
       1e-3,
       true,
       1e-2},
      {"bitcast_convert",
       {{{4}}},
       [](const Tensors& x) {
         const Tensor same = bitcast_convert(bitcast_convert(x[0], same_width_integer(x[0].dtype())), x[0].dtype());
         return Tensors{x[0] + same * 0.0};
       }},
      {"reduce_precision", {{{4}}}, [](const Tensors& x) { return Tensors{reduce_precision(square(x[0]), 11, 52)}; }},
      {"stop_gradient_constant",
       {{{4}}},
       [](const Tensors& x) { return Tensors{x[0] * stop_gradient(full_like(x[0], 3))}; }},
      {"optimization_barrier",
       {{{4}}, {{2}}},
       [](const Tensors& x) {
         return optimization_barrier({x[0] * 2.0, square(x[1])});
       }},
      {"checkpoint_name", {{{4}}}, [](const Tensors& x) { return Tensors{checkpoint_name(square(x[0]), "ffn1")}; }},
      {"sharding_constraint",
       {{{4, 2}}},
       [](const Tensors& x) {
         return Tensors{sharding_constraint(square(x[0]), {{{"data"}, {}}})};
       }},
      {"logaddexp_far", {{{5}, 30, 40}, {{5}, -5, 0}}, [](const Tensors& x) { return Tensors{logaddexp(x[0], x[1])}; }},
  };
  const auto add = [&](const std::vector<GradientRow>& more) { rows.insert(rows.end(), more.begin(), more.end()); };
  add(binary("add", pax::add, -2, 2));
  add(binary("subtract", subtract, -2, 2));
  add(binary("multiply", multiply, -2, 2));
  add(binary("divide", divide, 0.5, 2));
  add(binary("remainder", remainder, 0.4, 3));
  add(binary("power", power, 0.5, 2));
  add(binary("atan2", atan2, 0.5, 2));
  add(binary("maximum", maximum, -2, 2));
  add(binary("minimum", minimum, -2, 2));
  add(binary("logaddexp", logaddexp, -2, 2));
  return rows;
}

}  // namespace pax
