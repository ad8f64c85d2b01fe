#include "pax/array/shape.h"

#include <fmt/format.h>

#include "pax/base/text.h"

namespace pax {

int64_t Shape::num_elements() const {
  int64_t count = 1;
  for (const int64_t dim : dims_) count *= dim;
  return count;
}

Shape Shape::prefixed(std::span<const int64_t> dims) const {
  std::vector<int64_t> all(dims.begin(), dims.end());
  all.insert(all.end(), dims_.begin(), dims_.end());
  return Shape(std::move(all));
}

Shape Shape::without(int64_t dim) const {
  std::vector<int64_t> rest = dims_;
  rest.erase(rest.begin() + (dim < 0 ? dim + rank() : dim));
  return Shape(std::move(rest));
}

std::string to_string(const Shape& shape) { return fmt::format("[{}]", join(shape.dims(), ",")); }

std::string to_string(const TensorType& type) {
  return fmt::format("{}{}", mlir_name(type.dtype), to_string(type.shape));
}

}  // namespace pax
