#include "pax/ir/sharding.h"

#include <fmt/format.h>

#include <algorithm>

namespace pax {

int64_t Mesh::num_devices() const {
  int64_t count = 1;
  for (const int64_t size : sizes) count *= size;
  return count;
}

bool Sharding::replicated() const {
  return std::ranges::all_of(dims, [](const auto& axes) { return axes.empty(); });
}

Sharding fit(Sharding sharding, const Shape& shape, const Mesh& mesh) {
  const auto parts = [&](const std::vector<std::string>& axes) {
    int64_t count = 1;
    for (size_t i = 0; i < mesh.axes.size(); ++i) {
      if (std::ranges::find(axes, mesh.axes[i]) != axes.end()) count *= mesh.sizes[i];
    }
    return count;
  };
  const size_t rank = std::min(sharding.dims.size(), static_cast<size_t>(shape.rank()));
  for (size_t dim = 0; dim < rank; ++dim) {
    std::vector<std::string>& axes = sharding.dims[dim];
    while (!axes.empty() && shape[static_cast<int64_t>(dim)] % parts(axes) != 0) axes.pop_back();
  }
  return sharding;
}

std::string to_shardy(const Sharding& sharding) {
  std::string out = "[";
  for (size_t i = 0; i < sharding.dims.size(); ++i) {
    if (i > 0) out += ", ";
    out += "{";
    for (size_t k = 0; k < sharding.dims[i].size(); ++k) {
      const std::string& axis = sharding.dims[i][k];
      if (k > 0) out += ", ";
      out += axis == kOpenAxis ? axis : fmt::format("\"{}\"", axis);
    }
    out += "}";
  }
  return out + "]";
}

}  // namespace pax
