#include "pax/plan/replica_groups.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "pax/base/error.h"
#include "pax/base/text.h"

namespace pax {
namespace {

using data::WireReader;
using Groups = std::vector<std::vector<int64_t>>;

/// More partitions than any machine has: what a damaged program must not make us allocate.
constexpr int64_t kMaxPartitions = 1 << 20;

/// Numbers 0, 1, 2, … in a box of `dims`, read out with dimension `order[0]` slowest, cut into groups of `group_size`.
Groups iota_groups(const std::vector<int64_t>& dims, const std::vector<int64_t>& order, int64_t group_size) {
  int64_t count = 1;
  for (const int64_t dim : dims) {
    if (dim < 1 || dim > kMaxPartitions / count) fail<RuntimeError>("compiled program: replica groups are malformed");
    count *= dim;
  }
  std::vector<int64_t> strides(dims.size(), 1);
  for (size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  std::vector<int64_t> index(order.size(), 0);
  Groups groups;
  for (int64_t n = 0; n < count; ++n) {
    int64_t id = 0;
    for (size_t i = 0; i < order.size(); ++i) id += index[i] * strides[static_cast<size_t>(order[i])];
    if (n % group_size == 0) groups.emplace_back();
    groups.back().push_back(id);
    for (size_t i = order.size(); i-- > 0;) {
      if (++index[i] < dims[static_cast<size_t>(order[i])]) break;
      index[i] = 0;
    }
  }
  return groups;
}

void require_permutation(std::vector<int64_t> order, size_t size) {
  std::ranges::sort(order);
  for (size_t i = 0; i < order.size(); ++i) {
    if (order[i] != static_cast<int64_t>(i)) fail<RuntimeError>("compiled program: replica groups are malformed");
  }
  if (order.size() != size) fail<RuntimeError>("compiled program: replica groups are malformed");
}

}  // namespace

void append_numbers(const WireReader::Field& field, std::vector<int64_t>& out) {
  if (field.type != WireReader::Type::kBytes) {
    out.push_back(static_cast<int64_t>(field.value));
    return;
  }
  WireReader packed(field.bytes);
  while (!packed.empty()) out.push_back(static_cast<int64_t>(packed.varint()));
}

Groups read_iota_groups(std::string_view bytes) {
  // 1 number of groups, 2 devices of a group, 3 dims, 4 transposition.
  int64_t group_size = 1;
  std::vector<int64_t> dims, order;
  WireReader reader(bytes);
  while (const auto at = reader.next()) {
    if (at->number == 2) group_size = std::max<int64_t>(1, static_cast<int64_t>(at->value));
    if (at->number == 3) append_numbers(*at, dims);
    if (at->number == 4) append_numbers(*at, order);
  }
  if (order.empty()) {
    order.resize(dims.size());
    std::iota(order.begin(), order.end(), 0);
  }
  require_permutation(order, dims.size());
  return iota_groups(dims, order, group_size);
}

Groups read_device_list(std::string_view bytes) {
  Groups groups;
  WireReader reader(bytes);
  while (const auto at = reader.next()) {
    if (at->number == 2) return read_iota_groups(at->bytes);
    if (at->number != 1) continue;
    groups.emplace_back();
    WireReader members(at->bytes);
    while (const auto member = members.next()) append_numbers(*member, groups.back());
  }
  return groups;
}

Groups read_mesh_axes_groups(std::string_view bytes) {
  // Mesh: 1 axes {1 name, 2 size}, 2 device ids. Axis: 1 index, 2 part of it {1 size before, 2 size}.
  struct Part {
    int64_t axis = 0, before = 1;
    std::optional<int64_t> size;
  };
  std::vector<int64_t> sizes, devices;
  std::vector<Part> parts;
  WireReader reader(bytes);
  while (const auto at = reader.next()) {
    WireReader inner(at->bytes);
    if (at->number == 1) {
      while (const auto field = inner.next()) {
        if (field->number == 2) append_numbers(*field, devices);
        if (field->number != 1) continue;
        WireReader axis(field->bytes);
        sizes.push_back(1);
        while (const auto of_axis = axis.next()) {
          if (of_axis->number == 2) sizes.back() = static_cast<int64_t>(of_axis->value);
        }
      }
    } else if (at->number == 2) {
      parts.emplace_back();
      while (const auto field = inner.next()) {
        if (field->number == 1) parts.back().axis = static_cast<int64_t>(field->value);
        if (field->number != 2) continue;
        WireReader sub(field->bytes);
        while (const auto of_part = sub.next()) {
          if (of_part->number == 1) parts.back().before = static_cast<int64_t>(of_part->value);
          if (of_part->number == 2) parts.back().size = static_cast<int64_t>(of_part->value);
        }
      }
    }
  }
  // Each axis becomes (before, part, after); the parts that the group runs over go last.
  std::vector<int64_t> dims, kept, grouped;
  for (size_t axis = 0; axis < sizes.size(); ++axis) {
    const auto part = std::ranges::find(parts, static_cast<int64_t>(axis), &Part::axis);
    const bool in_group = part != parts.end();
    const int64_t before = in_group ? std::max<int64_t>(part->before, 1) : 1;
    const int64_t size = in_group ? std::max<int64_t>(part->size.value_or(sizes[axis]), 1) : 1;
    const int64_t after = sizes[axis] / (before * size);
    for (const int64_t dim : {before, size, after}) {
      const bool run_over = in_group && dims.size() % 3 == 1;
      (run_over ? grouped : kept).push_back(static_cast<int64_t>(dims.size()));
      dims.push_back(dim);
    }
  }
  int64_t group_size = 1;
  for (const int64_t dim : grouped) group_size *= dims[static_cast<size_t>(dim)];
  kept.insert(kept.end(), grouped.begin(), grouped.end());
  Groups groups = iota_groups(dims, kept, std::max<int64_t>(group_size, 1));
  for (auto& group : groups) {
    for (int64_t& id : group) {
      if (id < static_cast<int64_t>(devices.size())) id = devices[static_cast<size_t>(id)];
    }
  }
  return groups;
}

std::string axes_of_group(const Mesh& mesh, const std::vector<int64_t>& group) {
  if (group.empty()) return "all";
  std::vector<std::string> names;
  int64_t stride = mesh.num_devices();
  for (size_t axis = 0; axis < mesh.axes.size(); ++axis) {
    stride /= mesh.sizes[axis];
    const auto coordinate = [&](int64_t id) { return id / stride % mesh.sizes[axis]; };
    const bool differs =
        std::ranges::any_of(group, [&](int64_t id) { return coordinate(id) != coordinate(group.front()); });
    if (differs) names.push_back(mesh.axes[axis]);
  }
  return names.empty() ? "none" : join(names, ",");
}

}  // namespace pax
