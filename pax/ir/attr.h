#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "pax/array/host_array.h"
#include "pax/ir/sharding.h"

namespace pax {

/// Dimensions of a dot_general, as StableHLO names them.
struct DotDims {
  std::vector<int64_t> lhs_batch, rhs_batch, lhs_contract, rhs_contract;
};

/// Dimensions of a gather, as StableHLO names them: `window` is offset_dims, `collapsed` collapsed_slice_dims.
struct GatherDims {
  std::vector<int64_t> window, collapsed, operand_batch, indices_batch, index_map;
  int64_t index_vector_dim = 0;
};

/// Of a scatter: the same roles under StableHLO's other names (update_window_dims, inserted_window_dims, …).
struct ScatterDims : GatherDims {};

/// Which dimension of each array of a convolution is what; `spatial` in order.
struct ConvDims {
  int64_t input_batch = 0, input_feature = 0;
  std::vector<int64_t> input_spatial;
  int64_t kernel_input_feature = 0, kernel_output_feature = 0;
  std::vector<int64_t> kernel_spatial;
  int64_t output_batch = 0, output_feature = 0;
  std::vector<int64_t> output_spatial;
};

/// Low and high edge padding, one pair a dimension.
struct PaddingPairs {
  std::vector<std::pair<int64_t, int64_t>> pairs;
};

/// The two-operand op inside a reduce, reduce_window, scatter, …: "add", "maximum". Written as a region.
struct Combiner {
  std::string_view op;
};

/// Attribute text in MLIR's syntax, written as it stands: `#stablehlo<comparison_direction LT>`.
struct Mlir {
  std::string text;
};

/// What an op carries that is no StableHLO attribute: a remat policy, a custom gradient.
class OpExtension {
 public:
  virtual ~OpExtension() = default;
};

using Attr = std::variant<bool, int64_t, double, DType, std::string, std::vector<int64_t>, std::vector<bool>, DotDims,
                          GatherDims, ScatterDims, ConvDims, PaddingPairs, Combiner, Mlir, HostArray, Sharding,
                          std::shared_ptr<const OpExtension>>;

/// An op's attributes by name. Names are string literals; those that begin with '_' are for rules and lowerings and are
/// not written.
class Attrs {
 public:
  Attrs() = default;
  Attrs(std::initializer_list<std::pair<std::string_view, Attr>> entries) : entries_(entries) {}

  /// Nothing when absent or of another type.
  template <class T>
  const T* find(std::string_view name) const {
    for (const auto& [key, value] : entries_) {
      if (key == name) return std::get_if<T>(&value);
    }
    return nullptr;
  }
  void set(std::string_view name, Attr value);
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }

 private:
  std::vector<std::pair<std::string_view, Attr>> entries_;
};

}  // namespace pax
