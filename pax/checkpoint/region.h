#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "pax/array/shape.h"

namespace pax {

/// A box inside an array: where it begins and how far it goes in each dimension.
struct Region {
  std::vector<int64_t> begin;
  std::vector<int64_t> size;

  int64_t num_elements() const;
  bool operator==(const Region&) const = default;
};

/// All of an array.
Region whole(const Shape& shape);

/// What two boxes share; a size of 0 somewhere when nothing.
Region intersection(const Region& a, const Region& b);

/// `region` as seen from `origin`.
Region relative_to(const Region& region, std::span<const int64_t> origin);

/// Index in elements of the first element of `region` within an array of that shape.
int64_t first_element(const Region& region, const Shape& shape);

/// True when the elements of `region` follow each other in a row-major array of that shape.
bool is_contiguous(const Region& region, const Shape& shape);

/// Calls `visit(index)` for every cell of a grid of `cell`s that touches `region`, in row-major order.
void for_each_cell(const Region& region, const Shape& cell,
                   const std::function<void(const std::vector<int64_t>&)>& visit);

/// One side of a copy: a box in a row-major array.
template <class Byte>
struct Box {
  std::span<Byte> bytes;
  Shape shape;
  std::vector<int64_t> begin;
};

/// Copies `size` elements in each dimension. Both boxes must lie inside their arrays.
void copy_region(const Box<const std::byte>& from, const Box<std::byte>& to, std::span<const int64_t> size,
                 size_t element_bytes);

}  // namespace pax
