#include "tests/ops/jax_ops.h"

#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "pax/base/error.h"
#include "pax/ops/activations.h"
#include "pax/ops/broadcast.h"
#include "pax/ops/convert.h"
#include "pax/ops/convolution.h"
#include "pax/ops/cumulative.h"
#include "pax/ops/dot.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/gather.h"
#include "pax/ops/linalg.h"
#include "pax/ops/logic.h"
#include "pax/ops/random.h"
#include "pax/ops/reduce.h"
#include "pax/ops/reshape.h"
#include "pax/ops/slice.h"
#include "pax/ops/sort.h"
#include "pax/ops/window.h"

namespace pax {
namespace {

using nlohmann::json;
using Dims = std::vector<int64_t>;
using Tensors = std::vector<Tensor>;
using Builder = std::function<Tensors(const json&, const Tensors&)>;
using Builders = std::map<std::string, Builder, std::less<>>;

Dims dims_of(const json& attrs, const char* name) { return attrs.at(name).get<Dims>(); }
DType dtype_of(const json& attrs) { return parse_dtype(attrs.at("dtype").get<std::string>()).value(); }
TensorType type_of(const json& attrs) { return {dtype_of(attrs), Shape(dims_of(attrs, "shape"))}; }
Direction direction_of(const json& attrs) { return attrs.at("reverse") ? Direction::kReverse : Direction::kForward; }

std::vector<std::pair<int64_t, int64_t>> pairs_of(const json& attrs) {
  std::vector<std::pair<int64_t, int64_t>> pairs;
  for (const json& pair : attrs.at("padding")) pairs.emplace_back(pair.at(0), pair.at(1));
  return pairs;
}

Builder unary(Tensor (*op)(Tensor)) {
  return [op](const json&, const Tensors& x) { return Tensors{op(x[0])}; };
}

Builder binary(Tensor (*op)(Tensor, Tensor)) {
  return [op](const json&, const Tensors& x) { return Tensors{op(x[0], x[1])}; };
}

Builder reduction(Tensor (*op)(Tensor, Dims, Reduced)) {
  return [op](const json& a, const Tensors& x) {
    return Tensors{op(x[0], dims_of(a, "dims"), a.at("keep") ? Reduced::kKept : Reduced::kDropped)};
  };
}

Builder along(Tensor (*op)(Tensor, int64_t)) {
  return [op](const json& a, const Tensors& x) { return Tensors{op(x[0], a.at("dim"))}; };
}

Builder running(Tensor (*op)(Tensor, int64_t, Direction)) {
  return [op](const json& a, const Tensors& x) { return Tensors{op(x[0], a.at("dim"), direction_of(a))}; };
}

Builder windowed(Tensor (*op)(Tensor, Window)) {
  return [op](const json& a, const Tensors& x) {
    return Tensors{op(x[0], {.sizes = dims_of(a, "sizes"),
                             .strides = dims_of(a, "strides"),
                             .padding = pairs_of(a),
                             .base_dilation = dims_of(a, "base_dilation"),
                             .window_dilation = dims_of(a, "window_dilation")})};
  };
}

Tensors rest_of(const Tensors& x, ptrdiff_t from) { return {x.begin() + from, x.end()}; }

Scatter scatter_kind(const std::string& name) {
  const std::map<std::string, Scatter> kinds = {{"add", Scatter::kAdd},
                                                {"replace", Scatter::kReplace},
                                                {"multiply", Scatter::kMultiply},
                                                {"minimum", Scatter::kMinimum},
                                                {"maximum", Scatter::kMaximum}};
  return kinds.at(name);
}

Builders elementwise() {
  return {
      {"negate", unary(negate)},
      {"abs", unary(abs)},
      {"sign", unary(sign)},
      {"exp", unary(exp)},
      {"expm1", unary(expm1)},
      {"tanh", unary(tanh)},
      {"logistic", unary(logistic)},
      {"sine", unary(sine)},
      {"cosine", unary(cosine)},
      {"tan", unary(tan)},
      {"floor", unary(floor)},
      {"ceil", unary(ceil)},
      {"round_nearest_even", unary(round_nearest_even)},
      {"round_nearest_afz", unary(round_nearest_afz)},
      {"erf", unary(erf)},
      {"erfc", unary(erfc)},
      {"erf_inv", unary(erf_inv)},
      {"lgamma", unary(lgamma)},
      {"digamma", unary(digamma)},
      {"softplus", unary(softplus)},
      {"relu", unary(relu)},
      {"relu6", unary(relu6)},
      {"silu", unary(silu)},
      {"square", unary(square)},
      {"is_finite", unary(is_finite)},
      {"log", unary(log)},
      {"log1p", unary(log1p)},
      {"sqrt", unary(sqrt)},
      {"rsqrt", unary(rsqrt)},
      {"cbrt", unary(cbrt)},
      {"logical_not", unary(logical_not)},
      {"population_count", unary(population_count)},
      {"count_leading_zeros", unary(count_leading_zeros)},
      {"elu", [](const json&, const Tensors& x) { return Tensors{elu(x[0])}; }},
      {"leaky_relu", [](const json&, const Tensors& x) { return Tensors{leaky_relu(x[0])}; }},
      {"gelu", [](const json&, const Tensors& x) { return Tensors{gelu(x[0])}; }},
      {"gelu_exact", [](const json&, const Tensors& x) { return Tensors{gelu(x[0], Gelu::kExact)}; }},
      {"add", binary(add)},
      {"subtract", binary(subtract)},
      {"multiply", binary(multiply)},
      {"divide", binary(divide)},
      {"remainder", binary(remainder)},
      {"power", binary(power)},
      {"atan2", binary(atan2)},
      {"maximum", binary(maximum)},
      {"minimum", binary(minimum)},
      {"logaddexp", binary(logaddexp)},
      {"eq", binary(eq)},
      {"ne", binary(ne)},
      {"lt", binary(lt)},
      {"le", binary(le)},
      {"gt", binary(gt)},
      {"ge", binary(ge)},
      {"logical_and", binary(logical_and)},
      {"logical_or", binary(logical_or)},
      {"logical_xor", binary(logical_xor)},
      {"shift_left", binary(shift_left)},
      {"shift_right_logical", binary(shift_right_logical)},
      {"shift_right_arithmetic", binary(shift_right_arithmetic)},
      {"clamp", [](const json&, const Tensors& x) { return Tensors{clamp(x[0], x[1], x[2])}; }},
      {"select", [](const json&, const Tensors& x) { return Tensors{select(x[0], x[1], x[2])}; }},
      {"convert", [](const json& a, const Tensors& x) { return Tensors{convert(x[0], dtype_of(a))}; }},
      {"bitcast_convert", [](const json& a, const Tensors& x) { return Tensors{bitcast_convert(x[0], dtype_of(a))}; }},
      {"reduce_precision", [](const json& a, const Tensors& x) {
         return Tensors{reduce_precision(x[0], a.at("exponent"), a.at("mantissa"))};
       }}};
}

Builders reductions() {
  return {{"reduce_sum", reduction(reduce_sum)},
          {"reduce_mean", reduction(reduce_mean)},
          {"reduce_max", reduction(reduce_max)},
          {"reduce_min", reduction(reduce_min)},
          {"reduce_prod", reduction(reduce_prod)},
          {"logsumexp", reduction(logsumexp)},
          {"reduce_and", reduction(reduce_and)},
          {"reduce_or", reduction(reduce_or)},
          {"argmax", along(argmax)},
          {"argmin", along(argmin)},
          {"softmax", along(softmax)},
          {"log_softmax", along(log_softmax)},
          {"cumsum", running(cumsum)},
          {"cumprod", running(cumprod)},
          {"cummax", running(cummax)},
          {"cummin", running(cummin)},
          {"cumlogsumexp", running(cumlogsumexp)},
          {"reduce_window_sum", windowed(reduce_window_sum)},
          {"reduce_window_max", windowed(reduce_window_max)},
          {"reduce_window_min", windowed(reduce_window_min)}};
}

Builders shapes() {
  return {{"transpose",
           [](const json& a, const Tensors& x) { return Tensors{transpose(x[0], dims_of(a, "permutation"))}; }},
          {"reverse", [](const json& a, const Tensors& x) { return Tensors{reverse(x[0], dims_of(a, "dims"))}; }},
          {"slice",
           [](const json& a, const Tensors& x) {
             return Tensors{slice(x[0], dims_of(a, "starts"), dims_of(a, "limits"), dims_of(a, "strides"))};
           }},
          {"pad",
           [](const json& a, const Tensors& x) {
             return Tensors{pad(x[0], x[1], dims_of(a, "low"), dims_of(a, "high"), dims_of(a, "interior"))};
           }},
          {"dynamic_slice",
           [](const json& a, const Tensors& x) {
             return Tensors{dynamic_slice(x[0], rest_of(x, 1), dims_of(a, "sizes"))};
           }},
          {"dynamic_update_slice",
           [](const json&, const Tensors& x) { return Tensors{dynamic_update_slice(x[0], x[1], rest_of(x, 2))}; }},
          {"concatenate", [](const json& a, const Tensors& x) { return Tensors{concatenate(x, a.at("dim"))}; }},
          {"broadcast_in_dim", [](const json& a, const Tensors& x) {
             return Tensors{broadcast_in_dim(x[0], Shape(dims_of(a, "shape")), dims_of(a, "dims"))};
           }}};
}

Builders indexing() {
  return {
      {"take", [](const json& a, const Tensors& x) { return Tensors{take(x[0], x[1], a.at("dim"))}; }},
      {"take_along", [](const json& a, const Tensors& x) { return Tensors{take_along(x[0], x[1], a.at("dim"))}; }},
      {"scatter_at",
       [](const json& a, const Tensors& x) {
         // Written once only: multiplied updates have no gradient otherwise.
         const Scatter kind = scatter_kind(a.at("kind"));
         if (kind != Scatter::kMultiply) return Tensors{scatter_at(x[0], x[1], x[2], a.at("dim"), kind)};
         ScatterDims dims;
         dims.window = {0};
         dims.collapsed = {1};
         dims.index_map = {1};
         dims.index_vector_dim = 1;
         return Tensors{scatter(x[0], x[1], x[2], {.kind = kind, .dims = dims, .unique = true})};
       }},
      {"one_hot", [](const json& a, const Tensors& x) { return Tensors{one_hot(x[0], a.at("size"), DType::kF32)}; }},
      {"gather",
       [](const json& a, const Tensors& x) {
         const GatherDims dims{.window = dims_of(a, "window"),
                               .collapsed = dims_of(a, "collapsed"),
                               .index_map = dims_of(a, "index_map"),
                               .index_vector_dim = 1};
         return Tensors{gather(x[0], x[1], dims, dims_of(a, "sizes"))};
       }},
      {"sort",
       [](const json& a, const Tensors& x) {
         return Tensors{sort(x[0], a.at("dim"), a.at("descending") ? Order::kDescending : Order::kAscending)};
       }},
      {"argsort", [](const json& a, const Tensors& x) { return Tensors{argsort(x[0], a.at("dim"))}; }},
      {"sort_together",
       [](const json& a, const Tensors& x) { return sort(x, 0, Order::kAscending, a.at("num_keys")); }},
      {"top_k",
       [](const json& a, const Tensors& x) {
         const auto [values, places] = top_k(x[0], a.at("k"));
         return Tensors{values, places};
       }},
      {"top_k_values", [](const json& a, const Tensors& x) { return Tensors{top_k(x[0], a.at("k")).first}; }}};
}

/// JAX's spec: batch (kernel: output feature), feature (kernel: input feature), spatial dimensions.
Tensors jax_convolution(const json& a, const Tensors& x) {
  const Dims lhs = dims_of(a, "lhs");
  const Dims rhs = dims_of(a, "rhs");
  const Dims out = dims_of(a, "out");
  const auto spatial = [](const Dims& spec) { return Dims(spec.begin() + 2, spec.end()); };
  return {
      convolution(x[0], x[1],
                  {.dims = {lhs[0], lhs[1], spatial(lhs), rhs[1], rhs[0], spatial(rhs), out[0], out[1], spatial(out)},
                   .strides = dims_of(a, "strides"),
                   .padding = pairs_of(a),
                   .input_dilation = dims_of(a, "input_dilation"),
                   .kernel_dilation = dims_of(a, "kernel_dilation"),
                   .feature_groups = a.at("feature_groups"),
                   .batch_groups = a.at("batch_groups")})};
}

Builders products() {
  return {{"dot_general",
           [](const json& a, const Tensors& x) {
             return Tensors{dot_general(x[0], x[1],
                                        {dims_of(a, "lhs_batch"), dims_of(a, "rhs_batch"), dims_of(a, "lhs_contract"),
                                         dims_of(a, "rhs_contract")})};
           }},
          {"einsum",
           [](const json& a, const Tensors& x) { return Tensors{einsum(a.at("equation").get<std::string>(), x)}; }},
          {"convolution", jax_convolution},
          {"cholesky", unary(cholesky)},
          {"triangular_solve", [](const json& a, const Tensors& x) {
             return Tensors{triangular_solve(x[0], x[1],
                                             {.side = a.at("left") ? Side::kLeft : Side::kRight,
                                              .lower = a.at("lower"),
                                              .transposed = a.at("transposed")})};
           }}};
}

Builders randoms() {
  return {
      {"fold_in", [](const json& a, const Tensors& x) { return Tensors{fold_in(x[0], a.at("data").get<uint32_t>())}; }},
      {"split_key", [](const json& a, const Tensors& x) { return Tensors{split_key(x[0], a.at("count"))}; }},
      {"random_bits",
       [](const json& a, const Tensors& x) { return Tensors{random_bits(x[0], type_of(a).shape, dtype_of(a))}; }},
      {"random_uniform", [](const json& a, const Tensors& x) { return Tensors{random_uniform(x[0], type_of(a))}; }},
      {"random_normal", [](const json& a, const Tensors& x) { return Tensors{random_normal(x[0], type_of(a))}; }},
      {"random_truncated_normal",
       [](const json& a, const Tensors& x) { return Tensors{random_truncated_normal(x[0], type_of(a), -2, 2)}; }},
      {"random_gumbel", [](const json& a, const Tensors& x) { return Tensors{random_gumbel(x[0], type_of(a))}; }},
      {"random_bernoulli", [](const json& a, const Tensors& x) {
         return Tensors{random_bernoulli(x[0], Shape(dims_of(a, "shape")), a.at("p"))};
       }}};
}

}  // namespace

std::vector<Tensor> build_case(std::string_view op, const json& attrs, const std::vector<Tensor>& inputs) {
  static const Builders all = [] {
    Builders builders;
    for (Builders part : {elementwise(), reductions(), shapes(), indexing(), products(), randoms()})
      builders.merge(part);
    return builders;
  }();
  const auto at = all.find(op);
  if (at == all.end()) fail<RuntimeError>("no op named {}", op);
  return at->second(attrs, inputs);
}

}  // namespace pax
