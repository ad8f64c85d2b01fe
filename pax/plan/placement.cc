#include "pax/plan/placement.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <optional>

namespace pax {
namespace {

/// Dimension 0 of a slice's network runs fastest through the device numbers.
std::vector<int64_t> network_strides(const Machine& machine) {
  std::vector<int64_t> strides(machine.slice_shape.size(), 1);
  for (size_t i = 1; i < strides.size(); ++i) strides[i] = strides[i - 1] * machine.slice_shape[i - 1];
  return strides;
}

/// The fewest of the `free` dimensions whose sizes multiply to `size`, as a set of bits.
std::optional<uint32_t> dimensions_for(const Machine& machine, uint32_t free, int64_t size) {
  std::optional<uint32_t> best;
  for (uint32_t set = 1; set < (1u << machine.slice_shape.size()); ++set) {
    if ((set & ~free) != 0) continue;
    int64_t product = 1;
    for (size_t i = 0; i < machine.slice_shape.size(); ++i) {
      if ((set >> i & 1) != 0) product *= machine.slice_shape[i];
    }
    if (product == size && (!best || std::popcount(set) < std::popcount(*best))) best = set;
  }
  return best;
}

/// For each axis, the step in device numbers from one index to the next; nothing when an axis fits no dimensions.
std::optional<std::vector<std::vector<int64_t>>> device_offsets(const std::vector<int64_t>& sizes,
                                                                const Machine& machine) {
  uint32_t free = (1u << machine.slice_shape.size()) - 1;
  const std::vector<int64_t> strides = network_strides(machine);
  std::vector<std::vector<int64_t>> offsets(sizes.size(), {0});
  for (size_t axis = sizes.size(); axis-- > 0;) {
    if (sizes[axis] == 1) continue;
    const auto dims = dimensions_for(machine, free, sizes[axis]);
    if (!dims) return std::nullopt;
    free &= ~*dims;
    for (size_t i = 0; i < strides.size(); ++i) {
      if ((*dims >> i & 1) == 0) continue;
      std::vector<int64_t> extended;
      for (int64_t k = 0; k < machine.slice_shape[i]; ++k) {
        for (const int64_t offset : offsets[axis]) extended.push_back(offset + k * strides[i]);
      }
      offsets[axis] = std::move(extended);
    }
  }
  return offsets;
}

}  // namespace

std::vector<int64_t> place(const std::vector<int64_t>& ici_sizes, const std::vector<int64_t>& dcn_sizes,
                           const Machine& machine) {
  const auto offsets = device_offsets(ici_sizes, machine);
  const size_t rank = ici_sizes.size();
  const auto dcn = [&](size_t axis) { return axis < dcn_sizes.size() ? dcn_sizes[axis] : int64_t{1}; };
  std::vector<int64_t> index(rank, 0);
  std::vector<int64_t> devices;
  const int64_t total = machine.num_devices();
  for (int64_t n = 0; n < total; ++n) {
    int64_t slice = 0, inside = 0, row_major = 0;
    for (size_t axis = 0; axis < rank; ++axis) {
      const int64_t outer = index[axis] / ici_sizes[axis], inner = index[axis] % ici_sizes[axis];
      slice = slice * dcn(axis) + outer;
      row_major = row_major * ici_sizes[axis] + inner;
      if (offsets) inside += (*offsets)[axis][static_cast<size_t>(inner)];
    }
    const int64_t slice_size = std::accumulate(ici_sizes.begin(), ici_sizes.end(), int64_t{1}, std::multiplies<>());
    devices.push_back(slice * slice_size + (offsets ? inside : row_major));
    for (size_t axis = rank; axis-- > 0;) {
      if (++index[axis] < dcn(axis) * ici_sizes[axis]) break;
      index[axis] = 0;
    }
  }
  return devices;
}

double group_bandwidth(const Machine& machine, const std::vector<int64_t>& devices) {
  if (devices.empty()) return machine.device.link_bandwidth;
  const int64_t slice_size = machine.devices_per_slice();
  const std::vector<int64_t> strides = network_strides(machine);
  const std::vector<int64_t>& shape = machine.slice_shape;
  const bool torus = std::ranges::all_of(shape, [](int64_t side) { return side % 4 == 0 || side == 2; }) &&
                     std::ranges::count(shape, 2) <= (shape.size() == 4 ? 1 : 0);
  double links = 0;
  for (size_t i = 0; i < shape.size(); ++i) {
    const auto coordinate = [&](int64_t device) { return device % slice_size / strides[i] % shape[i]; };
    const bool differs =
        std::ranges::any_of(devices, [&](int64_t device) { return coordinate(device) != coordinate(devices.front()); });
    const bool ring = shape.size() == 1 || (shape.size() == 2 ? shape[i] == 16 : torus);
    if (differs) links += ring ? 1.0 : 0.5;
  }
  const bool one_slice =
      std::ranges::all_of(devices, [&](int64_t device) { return device / slice_size == devices.front() / slice_size; });
  if (!one_slice) return machine.device.slice_bandwidth;
  return machine.device.link_bandwidth * std::max(links, 0.5) / static_cast<double>(shape.size());
}

}  // namespace pax
