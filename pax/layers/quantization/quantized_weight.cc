#include "pax/layers/quantization/quantized_weight.h"

#include <fmt/format.h>

#include <algorithm>

#include "pax/base/error.h"
#include "pax/ops/constant.h"
#include "pax/ops/convert.h"
#include "pax/ops/dot.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/identity.h"
#include "pax/ops/logic.h"
#include "pax/ops/random.h"
#include "pax/ops/reduce.h"
#include "pax/ops/reshape.h"

namespace pax {
namespace {

/// `shape` without the dimensions of the weight that the equation sums over.
Shape feature_shape(const Shape& shape, const std::vector<int64_t>& contracted) {
  Shape features;
  for (int64_t i = 0; i < shape.rank(); ++i) {
    if (std::ranges::find(contracted, i) == contracted.end()) features.push_back(shape[i]);
  }
  return features;
}

/// `x`, whose dimensions are `letters`, as it multiplies a tensor of dimensions `out`.
Tensor along(Tensor x, const std::string& letters, const std::string& out) {
  if (x.rank() == 0) return x;
  std::vector<int64_t> order;
  Shape shape;
  for (const char letter : out) {
    const size_t at = letters.find(letter);
    shape.push_back(at == std::string::npos ? 1 : x.dim(static_cast<int64_t>(at)));
    if (at != std::string::npos) order.push_back(static_cast<int64_t>(at));
  }
  return reshape(transpose(x, order), shape);
}

std::vector<int64_t> all_dims(Tensor x) {
  std::vector<int64_t> dims;
  for (int64_t i = 0; i < x.rank(); ++i) dims.push_back(i);
  return dims;
}

std::string letters_of(const std::string& operand, const std::vector<int64_t>& contracted) {
  std::string letters;
  for (size_t i = 0; i < operand.size(); ++i) {
    if (std::ranges::find(contracted, static_cast<int64_t>(i)) == contracted.end()) letters += operand[i];
  }
  return letters;
}

}  // namespace

QuantizedWeight::QuantizedWeight(const Scope& scope, const std::optional<QuantizationParams>& params, Spec spec)
    : scope_(scope), params_(params), spec_(std::move(spec)) {
  if (!params_) {
    w_ = scope_->param(spec_.name, spec_.weight);
    return;
  }
  check();
  if (params_->mode == QuantizationMode::kInference) {
    declare_integers(spec_.weight);
  } else {
    w_ = scope_->param(spec_.name, spec_.weight);
  }
  if (params_->weight_params.use_step_count) {
    step_count_ = scope_->param("step_count", {.shape = {},
                                               .init = WeightInit::constant(0.0),
                                               .dtype = DType::kS32,
                                               .collection = Collection::kNonTrainable});
  }
}

void QuantizedWeight::fail(std::string_view message) const {
  pax::fail<ConfigError>("{}: {}", scope_->path(), message);
}

void QuantizedWeight::check() const {
  const WeightQuantizationParams& weight = params_->weight_params;
  if (weight.dtype != DType::kS8 && weight.dtype != DType::kS4) {
    fail(fmt::format("weight_params.dtype is {}; it must be int8 or int4", dtype_name(weight.dtype)));
  }
  if (params_->mode == QuantizationMode::kInference && weight.precision > 8) {
    fail(fmt::format("weight_params.precision is {}; integer weights have at most 8 bits", weight.precision));
  }
  if (weight.sub_channels) fail("weight_params.sub_channels is not supported; use block_size");
  if (weight.min_clipping.has_value() != weight.num_optimize_clipping.has_value()) {
    fail("weight_params.min_clipping and num_optimize_clipping go together: set both or neither");
  }
  const auto& act = params_->act_params;
  if (act && !act->symmetric && act->per_channel && params_->mode == QuantizationMode::kInference) {
    fail("act_params.symmetric is false; activations then need per_channel false");
  }
}

bool QuantizedWeight::packs() const {
  return params_->weight_params.precision == 4 && params_->weight_params.use_int4_packed_weights;
}

void QuantizedWeight::declare_integers(ParamSpec weight) {
  const WeightQuantizationParams& by = params_->weight_params;
  std::vector<int64_t> contracted = ProductEquation(spec_.equation, 9, weight.shape.rank()).contracted_rhs();
  int64_t pack_dim = spec_.pack_dim;
  if (by.block_size > 0 && contracted.size() == 1 && weight.shape[contracted[0]] % by.block_size == 0 &&
      weight.shape[contracted[0]] > by.block_size) {
    // [..., y, ...] becomes [..., blocks, block_size, ...]; every block has a scale.
    const int64_t at = contracted[0];
    weight.shape = in_blocks(weight.shape, at, weight.shape[at] / by.block_size);
    if (!weight.split.empty()) weight.split.emplace(weight.split.begin() + at + 1);
    contracted = {at + 1};
    pack_dim = at + 1;
  }
  const Shape features = feature_shape(weight.shape, contracted);
  weight.init = WeightInit::constant(0.0);
  weight.dtype = by.dtype;
  if (packs()) {
    weight.dtype = by.int4_packed_weights_container_dtype;
    const int64_t each = weight.dtype == DType::kS32 ? 8 : 2;
    if (weight.shape[pack_dim] % each != 0) {
      fail(fmt::format("weight {} has {} inputs, which do not fill elements of {} 4-bit numbers",
                       to_string(weight.shape), weight.shape[pack_dim], each));
    }
    weight.shape[pack_dim] /= each;
  }
  w_ = scope_->param(spec_.name, weight);
  if (packs()) w_ = unpack_4bit(w_, pack_dim);
  scale_ = scope_->param(spec_.name + "_quantized_scale", {.shape = features});
  if (!by.use_symmetric) zero_point_ = scope_->param(spec_.name + "_quantized_zp", {.shape = features});
}

Tensor QuantizedWeight::einsum(std::string_view equation, Tensor x, DType dtype) const {
  const auto shaped = [&](Tensor w) { return spec_.reshape.empty() ? w : reshape(w, Shape(spec_.reshape)); };
  if (!params_) return pax::einsum(equation, x, shaped(w_));
  count_step();
  if (params_->mode != QuantizationMode::kInference) return trained_product(equation, x);
  return w_.rank() > spec_.weight.shape.rank() ? blockwise_product(x, dtype) : integer_product(equation, x, dtype);
}

Tensor QuantizedWeight::count_step() const {
  if (!step_count_) return {};
  if (!scope_->do_eval()) scope_->update("step_count", step_count_ + full_like(step_count_, 1.0));
  return step_count_;
}

Tensor QuantizedWeight::integer_product(std::string_view equation, Tensor x, DType dtype) const {
  const ProductEquation eqn(equation, x.rank(), w_.rank());
  const std::string features = letters_of(eqn.rhs, eqn.contracted_rhs());
  Tensor scale = along(scale_, features, eqn.out);
  Tensor y;
  Tensor offset_of = x;
  const auto& act = params_->act_params;
  if (act) {
    const bool by_row = act->per_channel && !spec_.one_activation_scale;
    const std::vector<int64_t> over = by_row ? eqn.contracted_lhs() : all_dims(x);
    const Quantized rounded = round_to_bits(
        x, over, {.bits = act->precision, .symmetric = act->symmetric, .percentile = act->clipping_coeff});
    offset_of = rounded.dequantized();
    if (rounded.zero_point || act->precision > 8) {
      y = pax::einsum(eqn.text(), offset_of, convert(w_, dtype));
    } else {
      y = convert(pax::einsum(eqn.text(), rounded.values, w_, {.preferred = DType::kS32}), DType::kF32);
      const Tensor rows = reshape(rounded.scale, feature_shape(x.shape(), over));
      y = y * along(rows, letters_of(eqn.lhs, eqn.contracted_lhs()), eqn.out);
    }
  } else {
    y = pax::einsum(eqn.text(), x, convert(w_, x.dtype()));
  }
  y = convert(y, dtype) * convert(scale, dtype);
  if (zero_point_)
    y = y -
        pax::einsum(eqn.lhs + "," + features + "->" + eqn.out, convert(offset_of, dtype), convert(zero_point_, dtype));
  return y;
}

Tensor QuantizedWeight::blockwise_product(Tensor x, DType dtype) const {
  if (params_->act_params)
    pax::fail<ConfigError>("{}: block_size is set; activations must stay as they are", scope_->path());
  Shape split = x.shape();
  split.push_back(w_.dim(1));
  split[x.rank() - 1] = w_.dim(0);
  const Tensor blocks = reshape(x, split);  // [..., s, c]
  const Tensor y = pax::einsum("...sc,scz->...sz", blocks, convert(w_, dtype));
  Tensor sum = pax::einsum("...sz,sz->...z", y, scale_);
  if (zero_point_) sum = sum - pax::einsum("...sc,sz->...z", blocks, zero_point_);
  return sum;
}

Tensor QuantizedWeight::trained_product(std::string_view equation, Tensor x) const {
  const Tensor w = spec_.reshape.empty() ? w_ : reshape(w_, Shape(spec_.reshape));
  switch (params_->quantization_type) {
    case QuantizationType::kAqt:
      return aqt_product(equation, x, w);
    case QuantizationType::kFqVn:
      return pax::einsum(equation, x, noisy(equation, w));
    case QuantizationType::kFq: {
      const auto& act = params_->act_params;
      if (act) {
        const ProductEquation eqn(equation, x.rank(), w.rank());
        const std::vector<int64_t> over = act->per_channel ? eqn.contracted_lhs() : all_dims(x);
        x = round_to_bits(x, over,
                          {.bits = act->precision,
                           .symmetric = act->symmetric,
                           .percentile = act->clipping_coeff,
                           .gradient = RoundingOptions::Gradient::kStraightThrough})
                .dequantized();
      }
      const Tensor y = pax::einsum(equation, x, fake_quantized(equation, w, params_->weight_params.calculation_dtype));
      if (!act || !act->fp16) return y;
      return select(gt(abs(y), max_finite(DType::kF16)), y * 0.99, y);
    }
    case QuantizationType::kPtq:
      break;
  }
  return pax::einsum(equation, x, w);
}

Tensor QuantizedWeight::fake_quantized(std::string_view equation, Tensor w, DType calculation) const {
  const WeightQuantizationParams& by = params_->weight_params;
  std::vector<int64_t> over = ProductEquation(equation, 9, w.rank()).contracted_rhs();
  Tensor x = w;
  if (by.block_size > 0 && !over.empty()) {
    const auto largest = std::ranges::max_element(over, {}, [&](int64_t i) { return w.dim(i); });
    const int64_t at = *largest, size = w.dim(at);
    if (by.block_size < size && size % by.block_size == 0) {
      const Shape blocks = in_blocks(w.shape(), at, size / by.block_size);
      for (auto dim = largest; dim != over.end(); ++dim) ++*dim;
      x = reshape(w, blocks);
    }
  }
  const Tensor rounded = round_to_bits(convert(x, calculation), over,
                                       {.bits = by.precision,
                                        .symmetric = by.use_symmetric,
                                        .gradient = RoundingOptions::Gradient::kStraightThrough,
                                        .method = by.quant_method})
                             .dequantized();
  return convert(reshape(rounded, w.shape()), w.dtype());
}

Tensor QuantizedWeight::noisy(std::string_view equation, Tensor w) const {
  const WeightQuantizationParams& by = params_->weight_params;
  if (!by.vn_scale) fail("quantization_type is fq_vn; set weight_params.vn_scale");
  // Praxis takes bfloat16 here, but for the combined projection.
  const DType calculation = spec_.one_activation_scale ? by.calculation_dtype : DType::kBF16;
  if (scope_->do_eval()) return fake_quantized(equation, w, calculation);
  Tensor noise;
  if (by.vn_noise_type == "uniform") {
    noise = random_uniform(scope_->random_key(), w.type(), -0.5, 0.5);
  } else if (by.vn_noise_type == "normal") {
    noise = random_normal(scope_->random_key(), w.type());
  } else {
    fail(fmt::format("weight_params.vn_noise_type is {}; it must be uniform or normal", by.vn_noise_type));
  }
  Tensor scale;
  if (by.vn_weight_norm_type == "PerChannelLinf") {
    scale = reduce_max(abs(w), ProductEquation(equation, 9, w.rank()).contracted_rhs(), Reduced::kKept);
  } else if (by.vn_weight_norm_type == "Linf") {
    scale = reduce_max(abs(w));
  } else {
    fail(fmt::format("weight_params.vn_weight_norm_type is {}; it must be Linf or PerChannelLinf",
                     by.vn_weight_norm_type));
  }
  scale = scale * *by.vn_scale;
  if (by.vn_start_step > 0) {
    if (!step_count_) fail("weight_params.vn_start_step is set; set use_step_count, too");
    scale = select(ge(step_count_, static_cast<double>(by.vn_start_step)), scale, 0.0);
  }
  if (by.stop_scale_gradient) scale = stop_gradient(scale);
  return w + scale * noise;
}

AqtOptions QuantizedWeight::aqt_weight() const {
  const WeightQuantizationParams& by = params_->weight_params;
  AqtOptions options{.bits = by.precision,
                     .symmetric = by.use_symmetric,
                     .unsigned_bounds = by.unsigned_int_bounds,
                     .stop_scale_gradient = by.stop_scale_gradient,
                     .add_scale_eps = by.add_scale_eps.value_or(false)};
  if (by.clipping_coeff != 1.0) options.clipping = by.clipping_coeff;
  options.min_clipping = by.min_clipping;
  options.num_optimize_clipping = by.num_optimize_clipping.value_or(0);
  options.per_channel_clipping = by.optimize_clipping_per_channel;
  return options;
}

AqtOptions QuantizedWeight::aqt_activation() const {
  const auto& act = params_->act_params;
  if (!act) return {};
  return {.bits = act->precision,
          .unsigned_bounds = act->unsigned_int_bounds,
          .stop_scale_gradient = act->stop_scale_gradient};
}

Tensor QuantizedWeight::aqt_product(std::string_view equation, Tensor x, Tensor w) const {
  const ProductEquation eqn(equation, x.rank(), w.rank());
  const Quantized lhs = round_aqt(x, eqn.contracted_lhs(), aqt_activation());
  const std::vector<int64_t> over = eqn.contracted_rhs();
  const Quantized rhs = round_aqt(w, over, aqt_weight());
  add_aqt_losses(w, rhs, over);
  Tensor y = pax::einsum(eqn.text(), lhs.values, rhs.values) * pax::einsum(eqn.text(), lhs.scale, rhs.scale);
  if (rhs.zero_point) {
    if (params_->act_params) fail("weight_params.use_symmetric is false; activations must then stay as they are");
    const Tensor zero = reshape(rhs.zero_point, feature_shape(w.shape(), over));
    y = y - pax::einsum(eqn.lhs + "," + letters_of(eqn.rhs, over) + "->" + eqn.out, lhs.values, zero);
  }
  return y;
}

void QuantizedWeight::add_aqt_losses(Tensor w, const Quantized& rounded, const std::vector<int64_t>& over) const {
  if (scope_->do_eval()) return;
  const WeightQuantizationParams& by = params_->weight_params;
  const Scope quantizer = scope_->child("weight_quantizer");
  if (by.quant_loss_weight) {
    quantizer.add_aux_loss("quant_loss", reduce_mean(square(w - rounded.dequantized())) * *by.quant_loss_weight);
  }
  if (by.kurt_loss_weight) {
    const Tensor centred = w - reduce_mean(w, over, Reduced::kKept);
    Tensor deviation = sqrt(reduce_mean(square(centred), over, Reduced::kKept));
    deviation = select(eq(deviation, 0.0), 1.0, deviation);
    const Tensor kurtosis = reduce_mean(square(square(centred / deviation)), over);
    quantizer.add_aux_loss("kurt_loss", reduce_mean(square(kurtosis - by.kurt)) * *by.kurt_loss_weight);
  }
}

Quantized QuantizedWeight::materialized() const {
  if (!params_ || params_->mode == QuantizationMode::kInference) fail("only float weights can be turned into integers");
  const WeightQuantizationParams& by = params_->weight_params;
  const std::vector<int64_t> over = ProductEquation(spec_.equation, 9, w_.rank()).contracted_rhs();
  Quantized out = params_->quantization_type == QuantizationType::kAqt ? round_aqt(w_, over, aqt_weight())
                                                                       : round_to_bits(w_, over,
                                                                                       {.bits = by.precision,
                                                                                        .symmetric = by.use_symmetric,
                                                                                        .percentile = by.clipping_coeff,
                                                                                        .method = by.quant_method});
  const Shape features = feature_shape(w_.shape(), over);
  out.values = convert(out.values, DType::kS8);
  out.scale = reshape(out.scale, features);
  if (out.zero_point) out.zero_point = reshape(out.zero_point, features);
  if (packs()) out.values = pack_4bit(out.values, spec_.pack_dim, by.int4_packed_weights_container_dtype);
  return out;
}

}  // namespace pax
