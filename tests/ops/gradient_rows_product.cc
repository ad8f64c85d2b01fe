#include "pax/ops/attention.h"
#include "pax/ops/constant.h"
#include "pax/ops/convert.h"
#include "pax/ops/convolution.h"
#include "pax/ops/dot.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/linalg.h"
#include "pax/ops/logic.h"
#include "pax/ops/reshape.h"
#include "tests/ops/gradient_rows.h"

namespace pax {
namespace {

using Tensors = std::vector<Tensor>;

GradientRow einsum_row(std::string name, std::string equation, std::vector<Shape> shapes) {
  std::vector<RowInput> inputs;
  for (Shape& shape : shapes) inputs.push_back({std::move(shape)});
  return {std::move(name), std::move(inputs),
          [equation](const Tensors& x) { return Tensors{square(einsum(equation, x))}; }};
}

/// Causal attention of three queries, the last of which may look nowhere, to five keys.
GradientRow attention_row(std::string name, AttentionOptions options) {
  return {.name = std::move(name),
          .inputs = {{{2, 3, 2, 4}}, {{2, 5, 2, 4}}, {{2, 5, 2, 4}}},
          .function =
              [options](const Tensors& x) {
                const TensorType index{DType::kS32, {1, 1, 3, 5}};
                const Tensor row = iota(x[0].graph(), index, 2);
                const Tensor masked = logical_or(lt(row, iota(x[0].graph(), index, 3)), ge(row, 2.0));
                const Tensor mask = convert(masked, DType::kF32) * -2e38;
                return Tensors{square(attention(x[0], x[1], x[2], mask, options))};
              },
          .twice = false};
}

GradientRow conv_row(std::string name, Shape x, Shape kernel, ConvOptions options) {
  return {std::move(name), {{std::move(x)}, {std::move(kernel)}}, [options](const Tensors& x) {
            return Tensors{square(convolution(x[0], x[1], options))};
          }};
}

GradientRow solve_row(std::string name, TriangularOptions options) {
  const Shape b = options.side == Side::kLeft ? Shape{2, 3, 4} : Shape{2, 4, 3};
  return {std::move(name), {{{2, 3, 3}, 1, 2}, {b}}, [options](const Tensors& x) {
            return Tensors{square(triangular_solve(x[0], x[1], options))};
          }};
}

ConvDims channels_first_transposed_kernel() {
  return {.input_batch = 0,
          .input_feature = 1,
          .input_spatial = {3, 2},
          .kernel_input_feature = 1,
          .kernel_output_feature = 0,
          .kernel_spatial = {2, 3},
          .output_batch = 1,
          .output_feature = 3,
          .output_spatial = {0, 2}};
}

}  // namespace

std::vector<GradientRow> product_rows() {
  const ConvDims nhwc = channels_last(2);
  const ConvDims nwc = channels_last(1);
  return {
      einsum_row("einsum_projection", "btd,df->btf", {{2, 3, 4}, {4, 5}}),
      einsum_row("einsum_projection_heads", "btd,dnh->btnh", {{2, 3, 4}, {4, 2, 3}}),
      einsum_row("einsum_out_projection", "btnh,dnh->btd", {{2, 3, 2, 3}, {4, 2, 3}}),
      einsum_row("einsum_scores", "btnh,bsnh->bnts", {{2, 3, 2, 4}, {2, 5, 2, 4}}),
      einsum_row("einsum_context", "bnts,bsnh->btnh", {{2, 2, 3, 5}, {2, 5, 2, 4}}),
      attention_row("attention", {}),
      attention_row("attention_capped", {.logit_cap = 0.5}),
      einsum_row("einsum_swapped", "df,btd->btf", {{4, 5}, {2, 3, 4}}),
      einsum_row("einsum_outer", "i,j->ij", {{3}, {4}}),
      einsum_row("einsum_inner", "i,i->", {{3}, {3}}),
      einsum_row("einsum_elementwise", "bth,h->bth", {{2, 3, 4}, {4}}),
      einsum_row("einsum_sum_alone", "ij,kl->il", {{2, 3}, {4, 2}}),
      einsum_row("einsum_diagonal", "iij,jk->ik", {{3, 3, 2}, {2, 4}}),
      einsum_row("einsum_trace", "ii->", {{3, 3}}),
      einsum_row("einsum_transpose", "ijk->kij", {{2, 3, 4}}),
      einsum_row("einsum_ellipsis", "...ij,...jk->...ik", {{2, 3, 4}, {5, 1, 4, 2}}),
      einsum_row("einsum_three", "ij,jk,kl->il", {{2, 3}, {3, 4}, {4, 2}}),
      einsum_row("einsum_four_experts", "gsec,gsm,emh,gse->egch", {{1, 3, 2, 2}, {1, 3, 4}, {2, 4, 3}, {1, 3, 2}}),
      einsum_row("einsum_implied", "ij,jk", {{2, 3}, {3, 4}}),
      {"matmul", {{{2, 3, 4}}, {{4, 5}}}, [](const Tensors& x) { return Tensors{square(matmul(x[0], x[1]))}; }},
      {"matmul_vectors", {{{4}}, {{4}}}, [](const Tensors& x) { return Tensors{square(matmul(x[0], x[1]))}; }},
      {"dot_general_odd_order",
       {{{3, 2, 4, 5}}, {{5, 6, 2, 4}}},
       [](const Tensors& x) {
         return Tensors{square(dot_general(x[0], x[1], {{1}, {2}, {3, 2}, {0, 3}}))};
       }},
      {"dot_general_preferred",
       {{{3, 4}}, {{4, 5}}},
       [](const Tensors& x) {
         return Tensors{square(dot_general(x[0], x[1], {{}, {}, {1}, {0}}, {.preferred = DType::kF64}))};
       }},
      conv_row("conv", {2, 5, 6, 3}, {2, 3, 3, 4}, {.dims = nhwc}),
      conv_row("conv_strided", {2, 5, 6, 3}, {2, 3, 3, 4},
               {.dims = nhwc, .strides = {2, 1}, .padding = {{1, 0}, {-1, 2}}, .kernel_dilation = {1, 2}}),
      conv_row("conv_transposed", {1, 3, 4, 2}, {3, 2, 2, 3},
               {.dims = nhwc, .padding = {{2, 2}, {1, 1}}, .input_dilation = {2, 3}}),
      conv_row("conv_all_numbers", {1, 4, 5, 2}, {2, 2, 2, 3},
               {.dims = nhwc,
                .strides = {1, 2},
                .padding = {{1, 1}, {0, 2}},
                .input_dilation = {2, 1},
                .kernel_dilation = {2, 1}}),
      conv_row("conv_depthwise", {2, 7, 4}, {3, 1, 8}, {.dims = nwc, .padding = {{2, 0}}, .feature_groups = 4}),
      conv_row("conv_grouped", {2, 5, 5, 4}, {2, 2, 2, 6}, {.dims = nhwc, .strides = {2, 2}, .feature_groups = 2}),
      conv_row("conv_batch_groups", {4, 5, 3}, {2, 3, 6}, {.dims = nwc, .batch_groups = 2}),
      conv_row("conv_other_order", {2, 3, 5, 6}, {4, 3, 2, 3}, {.dims = channels_first_transposed_kernel()}),
      conv_row("conv_no_space", {2, 3}, {3, 4}, {.dims = channels_last(0)}),
      {"cholesky",
       {{{2, 3, 3}}},
       [](const Tensors& x) {
         return Tensors{
             square(cholesky(einsum("bij,bkj->bik", x[0], x[0]) + lower_triangle(upper_triangle(x[0] * 0.0 + 1.0))))};
       },
       1e-5},
      solve_row("solve", {}),
      solve_row("solve_upper_transposed", {.lower = false, .transposed = true}),
      solve_row("solve_right", {.side = Side::kRight}),
      solve_row("solve_right_transposed_unit", {.side = Side::kRight, .transposed = true, .unit_diagonal = true}),
  };
}

}  // namespace pax
