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
