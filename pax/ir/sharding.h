#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pax/array/shape.h"

namespace pax {

/// A logical arrangement of devices: axis names (`replica`, `data`, `mdl`, …) and their sizes, outermost first.
struct Mesh {
  std::vector<std::string> axes;
  std::vector<int64_t> sizes;

  int64_t num_devices() const;
  bool operator==(const Mesh&) const = default;
};

/// In the place of a mesh axis: the partitioner may split the dimension further as it likes.
inline constexpr std::string_view kOpenAxis = "?";

/// Over which mesh axes each dimension of an array is split, outermost axis first; an empty list is not split.
/// Pax's `tensor_split_dims_mapping`.
struct Sharding {
  std::vector<std::vector<std::string>> dims;

  bool replicated() const;
  bool operator==(const Sharding&) const = default;
};

/// The sharding without those axes (innermost first) under which a dimension would not divide into equal parts: inputs
/// and outputs of programs have such dimensions whole on each device. Throws nothing; unknown axes stay.
Sharding fit(Sharding sharding, const Shape& shape, const Mesh& mesh);

/// `[{"data"}, {}, {?}]`: the dimensions in Shardy's syntax.
std::string to_shardy(const Sharding& sharding);

}  // namespace pax
