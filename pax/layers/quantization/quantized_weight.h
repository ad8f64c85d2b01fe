#pragma once

#include "pax/layers/quantization/rounding.h"

namespace pax {

/// A weight of a quantised layer, and products with it (praxis quantizer.QuantizationLayer). In mode inference it is
/// held as integers `name` with `name`_quantized_scale, one a feature, and `name`_quantized_zp unless symmetric.
class QuantizedWeight {
 public:
  struct Spec {
    std::string name = "w";
    ParamSpec weight;                   ///< as it is in float
    std::string equation;               ///< "...y,yz->...z": which of its dimensions are summed over
    std::vector<int64_t> reshape{};     ///< the shape that products take; empty: as it is
    int64_t pack_dim = 0;               ///< along which 4-bit numbers share elements
    bool one_activation_scale = false;  ///< in inference one for the whole input, whatever the params say
  };
  QuantizedWeight() = default;
  /// Declares the variables in `scope`. No params: a plain weight. Throws ConfigError when options do not go together.
  QuantizedWeight(const Scope& scope, const std::optional<QuantizationParams>& params, Spec spec);

  /// `equation` of x and the weight, as the type and mode say. `dtype`: of the result.
  Tensor einsum(std::string_view equation, Tensor x, DType dtype) const;

  /// What a checkpoint for mode inference holds in place of the float weight: values (packed where asked for), scale
  /// and zero point, the last two without the contracted dimensions.
  Quantized materialized() const;

 private:
  bool packs() const;
  void declare_integers(ParamSpec weight);
  void check() const;
  Tensor integer_product(std::string_view equation, Tensor x, DType dtype) const;
  Tensor blockwise_product(Tensor x, DType dtype) const;
  Tensor trained_product(std::string_view equation, Tensor x) const;
  Tensor fake_quantized(std::string_view equation, Tensor w, DType calculation) const;
  Tensor noisy(std::string_view equation, Tensor w) const;
  Tensor aqt_product(std::string_view equation, Tensor x, Tensor w) const;
  void add_aqt_losses(Tensor w, const Quantized& rounded, const std::vector<int64_t>& over) const;
  AqtOptions aqt_weight() const;
  AqtOptions aqt_activation() const;
  Tensor count_step() const;
  void fail(std::string_view message) const;

  std::optional<Scope> scope_;
  std::optional<QuantizationParams> params_;
  Spec spec_;
  Tensor w_, scale_, zero_point_, step_count_;
};

}  // namespace pax
