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
                          PaddingPairs, Combiner, Mlir, HostArray, Sharding, std::shared_ptr<const OpExtension>>;

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
