#pragma once

#include <optional>

#include "pax/array/dtype.h"
#include "pax/config/config.h"

namespace pax {

/// How a layer is made to work with few bits (praxis QuantizationType): after training; by training with rounded
/// operands (AQT); with rounded values put back in place (fake quantisation); with noise of the size of the rounding.
enum class QuantizationType : uint8_t { kPtq, kAqt, kFq, kFqVn };
/// "ptq", "aqt", "fq", "fq_vn".
std::span<const std::pair<QuantizationType, std::string_view>> enum_names(QuantizationType);

/// What the layer does now (praxis QuantizationMode): train in float, have its weights turned into integers, or work
/// with integer weights.
enum class QuantizationMode : uint8_t { kTraining, kMaterialize, kInference };
/// "training", "materialize", "inference".
std::span<const std::pair<QuantizationMode, std::string_view>> enum_names(QuantizationMode);

/// Activations, quantised by the range of each call (praxis ActQuantizationParams).
struct ActQuantizationParams {
  static constexpr std::string_view kName = "praxis.layers.quantization.quantization_hparams.ActQuantizationParams";
  static constexpr std::string_view kDoc = "How activations are quantised.";
  int64_t precision = 8;
  bool unsigned_int_bounds = false;
  double clipping_coeff = 1.0;
  bool stop_scale_gradient = false;
  bool fp16 = false;
  bool per_channel = true;
  bool symmetric = true;
  static void fields(auto& self, auto&& visit) {
    visit("precision", self.precision, {.doc = "Bits.", .min = 1, .max = 23});
    visit("unsigned_int_bounds", self.unsigned_int_bounds, "Values are not negative (AQT).");
    visit("clipping_coeff", self.clipping_coeff, {.doc = "Share of the range that is kept.", .min = 0.0, .max = 1.0});
    visit("stop_scale_gradient", self.stop_scale_gradient, "The scale counts as constant (AQT).");
    visit("fp16", self.fp16, "Pulls results back into the range of float16 (FQ).");
    visit("per_channel", self.per_channel, "A scale for each row; else one for all.");
    visit("symmetric", self.symmetric, "The range is symmetric around 0.");
  }
};

/// Weights (praxis WeightQuantizationParams).
struct WeightQuantizationParams {
  static constexpr std::string_view kName = "praxis.layers.quantization.quantization_hparams.WeightQuantizationParams";
  static constexpr std::string_view kDoc = "How weights are quantised.";
  int64_t precision = 8;
  bool unsigned_int_bounds = false;
  double clipping_coeff = 1.0;
  bool stop_scale_gradient = false;
  std::optional<double> min_clipping;
  std::optional<int64_t> num_optimize_clipping;
  bool use_symmetric = true;
  std::optional<bool> add_scale_eps = true;
  bool dequant_upfront = false;
  DType dtype = DType::kS8;
  std::optional<double> quant_loss_weight;
  bool optimize_clipping_per_channel = false;
  std::optional<int64_t> sub_channels;
  DType calculation_dtype = DType::kF32;
  bool use_step_count = false;
  bool use_int4_packed_weights = true;
  DType int4_packed_weights_container_dtype = DType::kS32;
  std::optional<double> vn_scale;
  int64_t vn_start_step = 0;
  std::string vn_noise_type = "uniform";
  std::string vn_weight_norm_type = "PerChannelLinf";
  std::optional<double> kurt_loss_weight;
  double kurt = 1.8;
  int64_t block_size = 0;
  std::string quant_method = "default";
  static void fields(auto& self, auto&& visit) {
    visit("precision", self.precision, {.doc = "Bits.", .min = 1, .max = 23});
    visit("unsigned_int_bounds", self.unsigned_int_bounds, "Values are not negative (AQT).");
    visit("clipping_coeff", self.clipping_coeff, {.doc = "Share of the range that is kept.", .min = 0.0, .max = 1.0});
    visit("stop_scale_gradient", self.stop_scale_gradient, "The scale counts as constant (AQT, FQ_VN).");
    visit("min_clipping", self.min_clipping, "Smallest share of the range that is tried (AQT).");
    visit("num_optimize_clipping", self.num_optimize_clipping, "How many shares of the range are tried (AQT).");
    visit("use_symmetric", self.use_symmetric, "The range is symmetric around 0.");
    visit("add_scale_eps", self.add_scale_eps, "Scales grow by the smallest step; else scales of 0 become 1 (AQT).");
    visit("dequant_upfront", self.dequant_upfront);
    visit("dtype", self.dtype, "Element type of integer weights.");
    visit("quant_loss_weight", self.quant_loss_weight, "Of the squared rounding as an auxiliary loss (AQT).");
    visit("optimize_clipping_per_channel", self.optimize_clipping_per_channel, "Each channel has its share (AQT).");
    visit("sub_channels", self.sub_channels);
    visit("calculation_dtype", self.calculation_dtype, "What scales are computed in (FQ).");
    visit("use_step_count", self.use_step_count, "Counts training steps in a variable step_count.");
    visit("use_int4_packed_weights", self.use_int4_packed_weights, "4-bit weights share the elements of a wider type.");
    visit("int4_packed_weights_container_dtype", self.int4_packed_weights_container_dtype, "That type.");
    visit("vn_scale", self.vn_scale, "Of the noise (FQ_VN).");
    visit("vn_start_step", self.vn_start_step, "Noise begins at this step (FQ_VN).");
    visit("vn_noise_type", self.vn_noise_type, "uniform or normal (FQ_VN).");
    visit("vn_weight_norm_type", self.vn_weight_norm_type,
          "Linf or PerChannelLinf: what noise is relative to (FQ_VN).");
    visit("kurt_loss_weight", self.kurt_loss_weight, "Of the distance of the kurtosis from kurt (AQT).");
    visit("kurt", self.kurt, "The kurtosis wanted.");
    visit("block_size", self.block_size, {.doc = "Inputs that share a scale; 0: all.", .min = 0});
    visit("quant_method", self.quant_method, "default, or bin or bin_norm with 1 bit.");
  }
};

/// praxis quantization_hparams.QuantizationParams.
struct QuantizationParams {
  static constexpr std::string_view kName = "praxis.layers.quantization.quantization_hparams.QuantizationParams";
  static constexpr std::string_view kDoc = "How a layer is quantised.";
  QuantizationType quantization_type = QuantizationType::kPtq;
  QuantizationMode mode = QuantizationMode::kInference;
  std::optional<ActQuantizationParams> act_params;
  WeightQuantizationParams weight_params;
  static void fields(auto& self, auto&& visit) {
    visit("quantization_type", self.quantization_type, "The way.");
    visit("mode", self.mode, "What the layer does now.");
    visit("act_params", self.act_params, "Activations; null: they stay as they are.");
    visit("weight_params", self.weight_params, "Weights.");
  }
};

}  // namespace pax
