#include "pax/checkpoint/region.h"

#include <algorithm>
#include <cstring>

namespace pax {
namespace {

/// Elements between neighbours in each dimension of a row-major array.
std::vector<int64_t> strides(const Shape& shape) {
  std::vector<int64_t> result(static_cast<size_t>(shape.rank()), 1);
  for (int64_t d = shape.rank() - 2; d >= 0; --d) {
    result[static_cast<size_t>(d)] = result[static_cast<size_t>(d + 1)] * shape[d + 1];
  }
  return result;
}

int64_t offset_of(std::span<const int64_t> index, const Shape& shape) {
  const std::vector<int64_t> stride = strides(shape);
  int64_t offset = 0;
  for (size_t d = 0; d < index.size(); ++d) offset += index[d] * stride[d];
  return offset;
}

}  // namespace

int64_t Region::num_elements() const {
  int64_t count = 1;
  for (const int64_t n : size) count *= n;
  return count;
}

Region whole(const Shape& shape) {
  return {.begin = std::vector<int64_t>(static_cast<size_t>(shape.rank()), 0), .size = {shape.begin(), shape.end()}};
}

Region intersection(const Region& a, const Region& b) {
  Region shared;
  for (size_t d = 0; d < a.begin.size(); ++d) {
    const int64_t begin = std::max(a.begin[d], b.begin[d]);
    const int64_t end = std::min(a.begin[d] + a.size[d], b.begin[d] + b.size[d]);
    shared.begin.push_back(begin);
    shared.size.push_back(std::max<int64_t>(end - begin, 0));
  }
  return shared;
}

Region relative_to(const Region& region, std::span<const int64_t> origin) {
  Region moved = region;
  for (size_t d = 0; d < origin.size(); ++d) moved.begin[d] -= origin[d];
  return moved;
}

int64_t first_element(const Region& region, const Shape& shape) { return offset_of(region.begin, shape); }

bool is_contiguous(const Region& region, const Shape& shape) {
  // From the innermost dimension: full ones, then one of any size, then only ones of size 1.
  int64_t d = shape.rank() - 1;
  while (d >= 0 && region.size[static_cast<size_t>(d)] == shape[d]) --d;
  for (--d; d >= 0; --d) {
    if (region.size[static_cast<size_t>(d)] != 1) return false;
  }
  return true;
}

void for_each_cell(const Region& region, const Shape& cell,
                   const std::function<void(const std::vector<int64_t>&)>& visit) {
  if (region.num_elements() == 0) return;
  std::vector<int64_t> first;
  std::vector<int64_t> last;
  for (size_t d = 0; d < region.begin.size(); ++d) {
    first.push_back(region.begin[d] / cell[static_cast<int64_t>(d)]);
    last.push_back((region.begin[d] + region.size[d] - 1) / cell[static_cast<int64_t>(d)]);
  }
  std::vector<int64_t> index = first;
  while (true) {
    visit(index);
    size_t d = index.size();
    while (d > 0 && index[d - 1] == last[d - 1]) {
      index[d - 1] = first[d - 1];
      --d;
    }
    if (d == 0) return;
    ++index[d - 1];
  }
}

void copy_region(const Box<const std::byte>& from, const Box<std::byte>& to, std::span<const int64_t> size,
                 size_t element_bytes) {
  const size_t rank = size.size();
  const std::vector<int64_t> from_stride = strides(from.shape);
  const std::vector<int64_t> to_stride = strides(to.shape);
  const auto row_bytes = static_cast<size_t>(rank == 0 ? 1 : size[rank - 1]) * element_bytes;
  int64_t rows = 1;
  for (size_t d = 0; d + 1 < rank; ++d) rows *= size[d];
  int64_t source = offset_of(from.begin, from.shape);
  int64_t target = offset_of(to.begin, to.shape);
  std::vector<int64_t> index(rank, 0);
  for (int64_t row = 0; row < rows && row_bytes > 0; ++row) {
    std::memcpy(to.bytes.data() + static_cast<size_t>(target) * element_bytes,
                from.bytes.data() + static_cast<size_t>(source) * element_bytes, row_bytes);
    for (size_t d = rank < 2 ? 0 : rank - 1; d-- > 0;) {
      source += from_stride[d];
      target += to_stride[d];
      if (++index[d] < size[d]) break;
      source -= from_stride[d] * size[d];
      target -= to_stride[d] * size[d];
      index[d] = 0;
    }
  }
}

}  // namespace pax
