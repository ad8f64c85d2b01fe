#include "pax/ops/convolution.h"

#include <fmt/format.h>

#include <algorithm>

#include "pax/base/text.h"
#include "pax/ops/all_ops.h"
#include "pax/ops/broadcast.h"
#include "pax/ops/constant.h"
#include "pax/ops/convert.h"
#include "pax/ops/require.h"
#include "pax/ops/reshape.h"
#include "pax/ops/slice.h"

namespace pax {
namespace {

using Dims = std::vector<int64_t>;
using Pairs = std::vector<std::pair<int64_t, int64_t>>;

int64_t dilated(int64_t size, int64_t dilation) { return size == 0 ? 0 : 1 + dilation * (size - 1); }

ConvOptions options_of(const OpCall& call) {
  ConvOptions options{.dims = call.attr<ConvDims>("dimension_numbers"),
                      .strides = call.attr<Dims>("window_strides"),
                      .padding = call.attr<PaddingPairs>("padding").pairs,
                      .input_dilation = call.attr<Dims>("lhs_dilation"),
                      .kernel_dilation = call.attr<Dims>("rhs_dilation"),
                      .feature_groups = call.attr<int64_t>("feature_group_count"),
                      .batch_groups = call.attr<int64_t>("batch_group_count")};
  options.dot.preferred = call.attr<DType>("_dtype");
  options.dot.precision = static_cast<Precision>(call.attr<int64_t>("_precision"));
  return options;
}

bool is_permutation(int64_t a, int64_t b, Dims rest, int64_t rank) {
  rest.push_back(a);
  rest.push_back(b);
  std::ranges::sort(rest);
  return rest == all_dims(rank);
}

bool lists_fit(const ConvOptions& options, const Shape& x, const Shape& kernel) {
  const ConvDims& dims = options.dims;
  const size_t spatial = dims.input_spatial.size();
  const auto positive = [](const Dims& list) {
    return reasonable(list) && std::ranges::all_of(list, [](int64_t n) { return n > 0; });
  };
  const bool padding_ok = std::ranges::all_of(options.padding, [](const auto& pair) {
    return reasonable({pair.first, pair.second});
  });
  return x.rank() == static_cast<int64_t>(spatial) + 2 && kernel.rank() == x.rank() &&
         is_permutation(dims.input_batch, dims.input_feature, dims.input_spatial, x.rank()) &&
         is_permutation(dims.kernel_input_feature, dims.kernel_output_feature, dims.kernel_spatial, x.rank()) &&
         is_permutation(dims.output_batch, dims.output_feature, dims.output_spatial, x.rank()) &&
         options.strides.size() == spatial && options.padding.size() == spatial &&
         options.input_dilation.size() == spatial && options.kernel_dilation.size() == spatial &&
         positive(options.strides) && positive(options.input_dilation) && positive(options.kernel_dilation) &&
         padding_ok && reasonable({options.feature_groups, options.batch_groups}) && options.feature_groups > 0 &&
         options.batch_groups > 0 && (options.feature_groups == 1 || options.batch_groups == 1);
}

ResultTypes infer_convolution(const OpCall& call) {
  const ConvOptions options = options_of(call);
  const ConvDims& dims = options.dims;
  const Shape& x = call.shape(0);
  const Shape& kernel = call.shape(1);
  require_same_dtype(call, 0, 1);
  const auto refuse = [&](std::string_view why) {
    call.fail(fmt::format("input {} and kernel {}: {}", to_string(call.type(0)), to_string(call.type(1)), why));
  };
  if (!lists_fit(options, x, kernel)) {
    refuse("dimensions, strides, padding or dilations do not fit them: one positive number a spatial dimension");
  }
  const int64_t features = x[dims.input_feature];
  const int64_t kernel_features = kernel[dims.kernel_input_feature];
  const int64_t outputs = kernel[dims.kernel_output_feature];
  if (features != kernel_features * options.feature_groups) {
    refuse(fmt::format("{} input features must be the kernel's {} times {} groups", features, kernel_features,
                       options.feature_groups));
  }
  if (outputs % options.feature_groups != 0 || outputs % options.batch_groups != 0 ||
      x[dims.input_batch] % options.batch_groups != 0) {
    refuse(fmt::format("batch {} and output features {} cannot be cut into {} groups", x[dims.input_batch], outputs,
                       std::max(options.feature_groups, options.batch_groups)));
  }
  Dims shape(static_cast<size_t>(x.rank()));
  shape[static_cast<size_t>(dims.output_batch)] = x[dims.input_batch] / options.batch_groups;
  shape[static_cast<size_t>(dims.output_feature)] = outputs;
  for (size_t i = 0; i < dims.output_spatial.size(); ++i) {
    const int64_t padded = dilated(x[dims.input_spatial[i]], options.input_dilation[i]) + options.padding[i].first +
                           options.padding[i].second;
    const int64_t reach = dilated(kernel[dims.kernel_spatial[i]], options.kernel_dilation[i]);
    if (padded < 0) refuse("negative padding cuts off more than there is");
    shape[static_cast<size_t>(dims.output_spatial[i])] = padded < reach ? 0 : (padded - reach) / options.strides[i] + 1;
  }
  return TensorType{call.attr<DType>("_dtype"), Shape(std::move(shape))};
}

/// Dimension `dim` cut into [groups, rest]; the groups become the outer part of dimension `into`.
Tensor move_groups(Tensor x, int64_t dim, int64_t into, int64_t groups) {
  if (groups == 1) return x;
  const Tensor apart = split_dim(x, dim, Shape{groups, -1});
  Dims order = all_dims(apart.rank());
  order.erase(order.begin() + dim);
  // Without the groups the others have their old numbers again.
  order.insert(order.begin() + into, dim);
  return merge_dims(transpose(apart, std::move(order)), into, into + 1);
}

/// Gradient of the input: the gradient convolved with the reversed kernel, strides and input dilation exchanged.
Tensor input_gradient(const OpCall& call, Tensor grad) {
  const ConvOptions options = options_of(call);
  const ConvDims& dims = options.dims;
  const Shape& x = call.shape(0);
  const Tensor kernel = call.operand(1);
  const int64_t groups = std::max(options.feature_groups, options.batch_groups);
  ConvOptions back = options;
  back.dims = {.input_batch = dims.output_batch,
               .input_feature = dims.output_feature,
               .input_spatial = dims.output_spatial,
               .kernel_input_feature = dims.kernel_output_feature,
               .kernel_output_feature = dims.kernel_input_feature,
               .kernel_spatial = dims.kernel_spatial,
               .output_batch = dims.input_batch,
               .output_feature = dims.input_feature,
               .output_spatial = dims.input_spatial};
  back.strides = options.input_dilation;
  back.input_dilation = options.strides;
  back.feature_groups = groups;
  back.batch_groups = 1;
  back.dot.preferred = kernel.dtype();
  for (size_t i = 0; i < dims.input_spatial.size(); ++i) {
    const int64_t reach = dilated(kernel.dim(dims.kernel_spatial[i]), options.kernel_dilation[i]);
    const int64_t before = reach - options.padding[i].first - 1;
    const int64_t after = dilated(x[dims.input_spatial[i]], options.input_dilation[i]) + reach - 1 -
                          dilated(grad.dim(dims.output_spatial[i]), options.strides[i]) - before;
    back.padding[i] = {before, after};
  }
  const Tensor regrouped = move_groups(kernel, dims.kernel_output_feature, dims.kernel_input_feature, groups);
  const Tensor out = convolution(grad, reverse(regrouped, dims.kernel_spatial), back);
  return move_groups(out, dims.input_feature, dims.input_batch, options.batch_groups);
}

/// Gradient of the kernel: the input convolved with the gradient, batch and features exchanged.
Tensor kernel_gradient(const OpCall& call, Tensor grad) {
  const ConvOptions options = options_of(call);
  const ConvDims& dims = options.dims;
  const Shape& x = call.shape(0);
  ConvOptions back = options;
  back.dims = {.input_batch = dims.input_feature,
               .input_feature = dims.input_batch,
               .input_spatial = dims.input_spatial,
               .kernel_input_feature = dims.output_batch,
               .kernel_output_feature = dims.output_feature,
               .kernel_spatial = dims.output_spatial,
               .output_batch = dims.kernel_input_feature,
               .output_feature = dims.kernel_output_feature,
               .output_spatial = dims.kernel_spatial};
  back.strides = options.kernel_dilation;
  back.kernel_dilation = options.strides;
  back.feature_groups = options.batch_groups;
  back.batch_groups = options.feature_groups;
  back.dot.preferred = call.type(1).dtype;
  for (size_t i = 0; i < dims.input_spatial.size(); ++i) {
    const int64_t reach = dilated(call.shape(1)[dims.kernel_spatial[i]], options.kernel_dilation[i]);
    const int64_t from_input = dilated(grad.dim(dims.output_spatial[i]), options.strides[i]) -
                               dilated(x[dims.input_spatial[i]], options.input_dilation[i]);
    back.padding[i].second = from_input + reach - options.padding[i].first - 1;
  }
  return convolution(call.operand(0), grad, back);
}

Grads convolution_vjp(const OpCall& call, Tensor grad) {
  const Tensor g = convert(grad, call.type(0).dtype);
  const bool empty = grad.shape().num_elements() == 0;
  return {!call.wants(0) ? Tensor()
          : empty        ? zeros_like(call.operand(0))
                         : input_gradient(call, g),
          !call.wants(1) ? Tensor()
          : empty        ? zeros_like(call.operand(1))
                         : kernel_gradient(call, g)};
}

/// The first dimension as the outer part of dimension `dim` of what follows.
Tensor fold_front(Tensor x, int64_t dim) { return merge_dims(move_dim(x, 0, dim), dim, dim + 1); }

Tensor unfold_front(Tensor x, int64_t dim, int64_t size) {
  return move_dim(split_dim(x, dim, Shape{size, -1}), dim, 0);
}

/// A batch of inputs goes into the batch; a batch of kernels into their output features; one of both into groups.
std::vector<Tensor> batch_convolution(const OpCall& call, const std::vector<bool>& batched) {
  ConvOptions options = options_of(call);
  const ConvDims& dims = options.dims;
  Tensor x = call.operand(0);
  Tensor kernel = call.operand(1);
  const int64_t size = call.shape(batched[0] ? 0 : 1)[0];
  const bool grouped = options.feature_groups > 1 || options.batch_groups > 1;
  if (!batched[1] && options.batch_groups == 1) {
    return {unfold_front(convolution(fold_front(x, dims.input_batch), kernel, options), dims.output_batch, size)};
  }
  if (!batched[0] && !grouped) {
    const Tensor out = convolution(x, fold_front(kernel, dims.kernel_output_feature), options);
    return {unfold_front(out, dims.output_feature, size)};
  }
  if (!batched[0]) x = repeat_in_front(x, size);
  if (!batched[1]) kernel = repeat_in_front(kernel, size);
  const bool by_batch = options.batch_groups > 1;
  (by_batch ? options.batch_groups : options.feature_groups) *= size;
  const Tensor out = convolution(fold_front(x, by_batch ? dims.input_batch : dims.input_feature),
                                 fold_front(kernel, dims.kernel_output_feature), options);
  return {unfold_front(out, dims.output_feature, size)};
}

constinit const OpDef kConvolution{
    .name = "convolution", .infer = infer_convolution, .vjp = convolution_vjp, .batch = batch_convolution};

constexpr const OpDef* kOps[] = {&kConvolution};

}  // namespace

std::span<const OpDef* const> convolution_ops() { return kOps; }

Tensor convolution(Tensor x, Tensor kernel, ConvOptions options) {
  const size_t spatial = options.dims.input_spatial.size();
  for (Dims* list : {&options.strides, &options.input_dilation, &options.kernel_dilation}) {
    if (list->empty()) list->assign(spatial, 1);
  }
  if (options.padding.empty()) options.padding.resize(spatial);
  Attrs attrs{{"dimension_numbers", options.dims},
              {"window_strides", options.strides},
              {"padding", PaddingPairs{options.padding}},
              {"lhs_dilation", options.input_dilation},
              {"rhs_dilation", options.kernel_dilation},
              {"window_reversal", std::vector<bool>(spatial)},
              {"feature_group_count", options.feature_groups},
              {"batch_group_count", options.batch_groups},
              {"_dtype", options.dot.preferred.value_or(x.dtype())},
              {"_precision", static_cast<int64_t>(options.dot.precision)}};
  if (const std::string text = precision_config(options.dot.precision); !text.empty()) {
    attrs.set("precision_config", Mlir{text});
  }
  return emit(kConvolution, {x, kernel}, std::move(attrs));
}

ConvDims channels_last(int64_t spatial) {
  Dims middle = all_dims(spatial);
  const Dims kernel = middle;
  for (int64_t& dim : middle) ++dim;
  return {.input_batch = 0,
          .input_feature = spatial + 1,
          .input_spatial = middle,
          .kernel_input_feature = spatial,
          .kernel_output_feature = spatial + 1,
          .kernel_spatial = kernel,
          .output_batch = 0,
          .output_feature = spatial + 1,
          .output_spatial = middle};
}

}  // namespace pax
