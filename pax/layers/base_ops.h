#pragma once

#include "pax/layers/layer.h"

namespace pax {

/// The products of other layers, as a layer of its own so that another kind (quantised, 8-bit float) can take its place
/// (praxis base_ops.EinsumOp).
class EinsumOp : public Layer {
 public:
  using Interface = EinsumOp;
  struct Config : LayerConfig {
    using Product = EinsumOp;
    static constexpr std::string_view kName = "praxis.layers.EinsumOp";
    static constexpr std::string_view kAliases[] = {"praxis.layers.base_ops.EinsumOp"};
    static constexpr std::string_view kDoc = "The plain product of two arrays, in einsum notation.";
  };
  using Layer::Layer;

  virtual Tensor einsum(std::string_view equation, Tensor a, Tensor b) const;
};
extern template const config::ConfigType& config::type_of<EinsumOp::Config>();

/// Two products with one left side, for gated feed-forward layers (praxis base_ops.EinsumGatedOp).
class EinsumGatedOp : public Layer {
 public:
  using Interface = EinsumGatedOp;
  struct Config : LayerConfig {
    using Product = EinsumGatedOp;
    static constexpr std::string_view kName = "praxis.layers.EinsumGatedOp";
    static constexpr std::string_view kAliases[] = {"praxis.layers.base_ops.EinsumGatedOp"};
    static constexpr std::string_view kDoc = "Two plain products with one left side.";
  };
  using Layer::Layer;

  /// The products of `x` with `w` and with `w_gated`.
  virtual std::pair<Tensor, Tensor> einsum(std::string_view equation, Tensor x, Tensor w, Tensor w_gated) const;
};
extern template const config::ConfigType& config::type_of<EinsumGatedOp::Config>();

/// Rows of a table by number (praxis base_ops.ArrayLookup).
class ArrayLookup : public Layer {
 public:
  using Interface = ArrayLookup;
  struct Config : LayerConfig {
    using Product = ArrayLookup;
    static constexpr std::string_view kName = "praxis.layers.ArrayLookup";
    static constexpr std::string_view kAliases[] = {"praxis.layers.base_ops.ArrayLookup"};
    static constexpr std::string_view kDoc = "Rows of a table by number.";
  };
  using Layer::Layer;

  /// `table` [rows, ...] at `ids`: shape of `ids`, then the rest of `table`'s. Negative numbers count from the end, those
  /// out of range read the nearest row.
  virtual Tensor lookup(Tensor table, Tensor ids) const;
};
extern template const config::ConfigType& config::type_of<ArrayLookup::Config>();

/// How rows of a table are found.
enum class LookupStyle : uint8_t { kIndex, kMatmul };
std::span<const std::pair<LookupStyle, std::string_view>> enum_names(LookupStyle);

/// Rows `ids` of `table` in that style: ids out of range read the nearest row by index, zeros by product.
struct TableLookup {
  const ArrayLookup& by_index;
  const EinsumOp& by_product;
  Tensor operator()(LookupStyle style, Tensor table, Tensor ids) const;
};

}  // namespace pax
