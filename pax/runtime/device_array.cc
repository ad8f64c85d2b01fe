#include "pax/runtime/device_array.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "pax/base/error.h"
#include "pax/base/text.h"

namespace pax {
namespace {

/// Strides in elements of a dense array.
std::vector<int64_t> strides_of(const Shape& shape) {
  std::vector<int64_t> strides(static_cast<size_t>(shape.rank()), 1);
  for (size_t i = strides.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[static_cast<int64_t>(i)];
  return strides;
}

/// Calls `visit(offset in whole, offset in part, length)` for each run of elements that lie together in both.
template <class Visit>
void for_each_run(const Shape& whole, const DeviceMesh::Part& part, Visit visit) {
  if (part.shape.num_elements() == 0) return;
  const std::vector<int64_t> strides = strides_of(whole);
  // The innermost dimensions that the part has whole form one run with the one before them.
  int64_t outer = part.shape.rank();
  int64_t run = 1;
  while (outer > 0) {
    --outer;
    run *= part.shape[outer];
    if (part.shape[outer] != whole[outer]) break;
  }
  std::vector<int64_t> index(static_cast<size_t>(outer), 0);
  int64_t part_offset = 0;
  while (true) {
    int64_t offset = 0;
    for (int64_t i = 0; i < part.shape.rank(); ++i) {
      const auto k = static_cast<size_t>(i);
      offset += (part.starts[k] + (i < outer ? index[k] : 0)) * strides[k];
    }
    visit(offset, part_offset, run);
    part_offset += run;
    int64_t dim = outer - 1;
    while (dim >= 0 && ++index[static_cast<size_t>(dim)] == part.shape[dim]) index[static_cast<size_t>(dim--)] = 0;
    if (dim < 0) return;
  }
}

HostArray cut(const HostArray& whole, const DeviceMesh::Part& part) {
  if (part.shape == whole.shape()) return whole;
  HostArray out(TensorType{whole.dtype(), part.shape});
  const auto element = static_cast<int64_t>(byte_size(whole.dtype()));
  for_each_run(whole.shape(), part, [&](int64_t from, int64_t to, int64_t count) {
    std::memcpy(out.mutable_bytes().data() + to * element, whole.bytes().data() + from * element,
                static_cast<size_t>(count * element));
  });
  return out;
}

void paste(HostArray& whole, const HostArray& shard, const DeviceMesh::Part& part) {
  const auto element = static_cast<int64_t>(byte_size(whole.dtype()));
  for_each_run(whole.shape(), part, [&](int64_t to, int64_t from, int64_t count) {
    std::memcpy(whole.mutable_bytes().data() + to * element, shard.bytes().data() + from * element,
                static_cast<size_t>(count * element));
  });
}

}  // namespace

DeviceMesh::DeviceMesh(std::shared_ptr<const Client> client, Mesh mesh)
    : client_(std::move(client)), mesh_(std::move(mesh)), num_devices_(mesh_.num_devices()) {
  const auto available = static_cast<int64_t>(client_->devices().size());
  if (num_devices_ > available) {
    fail<ConfigError>("mesh [{}] of axes {} needs {} devices, {} has {}; make it smaller or give more devices",
                      join(mesh_.sizes, ","), join(mesh_.axes, ","), num_devices_, client_->plugin()->path().string(),
                      available);
  }
}

DeviceMesh::Part DeviceMesh::part(const Shape& shape, const Sharding& sharding, int64_t device) const {
  if (static_cast<int64_t>(sharding.dims.size()) > shape.rank()) {
    fail<ShapeError>("sharding {} names {} dimensions of an array {}", to_shardy(sharding), sharding.dims.size(),
                     to_string(shape));
  }
  Part part{std::vector<int64_t>(static_cast<size_t>(shape.rank()), 0), shape};
  for (size_t dim = 0; dim < sharding.dims.size(); ++dim) {
    int64_t pieces = 1;
    int64_t position = 0;
    for (const std::string& axis : sharding.dims[dim]) {
      if (axis == kOpenAxis) continue;
      const auto at = std::ranges::find(mesh_.axes, axis) - mesh_.axes.begin();
      if (at == static_cast<int64_t>(mesh_.axes.size())) {
        fail<ShapeError>("sharding {}: the mesh has no axis \"{}\", it has: {}", to_shardy(sharding), axis,
                         join(mesh_.axes, ", "));
      }
      int64_t inner = 1;
      for (size_t k = static_cast<size_t>(at) + 1; k < mesh_.sizes.size(); ++k) inner *= mesh_.sizes[k];
      const int64_t size = mesh_.sizes[static_cast<size_t>(at)];
      pieces *= size;
      position = position * size + device / inner % size;
    }
    const auto i = static_cast<int64_t>(dim);
    if (shape[i] % pieces != 0) {
      fail<ShapeError>("array {}: dimension {} of size {} is not divisible by the {} devices of {}", to_string(shape),
                       dim, shape[i], pieces, join(sharding.dims[dim], ","));
    }
    part.shape[i] = shape[i] / pieces;
    part.starts[dim] = position * part.shape[i];
  }
  return part;
}

DeviceArray::DeviceArray(std::shared_ptr<const DeviceMesh> mesh, TensorType type, Sharding sharding, BufferList shards)
    : mesh_(std::move(mesh)), type_(std::move(type)), sharding_(std::move(sharding)), shards_(std::move(shards)) {
  if (static_cast<int64_t>(shards_.size()) != mesh_->num_devices()) {
    fail<RuntimeError>("{} buffers for an array on {} devices", shards_.size(), mesh_->num_devices());
  }
}

DeviceArray DeviceArray::put(std::shared_ptr<const DeviceMesh> mesh, const HostArray& array, Sharding sharding,
                             HostTransfer transfer) {
  BufferList shards;
  std::map<std::vector<int64_t>, HostArray> made;  // Devices with the same part share its host copy.
  for (int64_t device = 0; device < mesh->num_devices(); ++device) {
    const DeviceMesh::Part part = mesh->part(array.shape(), sharding, device);
    auto at = made.find(part.starts);
    if (at == made.end()) at = made.emplace(part.starts, cut(array, part)).first;
    shards.push_back(mesh->client().to_device(at->second, device, transfer));
  }
  return DeviceArray(std::move(mesh), array.type(), std::move(sharding), std::move(shards));
}

HostCopies DeviceArray::copy_to_host() const {
  HostCopies copies;
  copies.type_ = type_;
  for (int64_t device = 0; device < mesh_->num_devices(); ++device) {
    DeviceMesh::Part part = mesh_->part(type_.shape, sharding_, device);
    if (std::ranges::find(copies.parts_, part) != copies.parts_.end()) continue;
    copies.copies_.push_back(shards_[static_cast<size_t>(device)].copy_to_host());
    copies.parts_.push_back(std::move(part));
  }
  return copies;
}

HostArray HostCopies::wait() const {
  if (copies_.size() == 1) return copies_[0].wait();
  HostArray whole(type_);
  for (size_t i = 0; i < copies_.size(); ++i) paste(whole, copies_[i].wait(), parts_[i]);
  return whole;
}

bool HostCopies::ready() const {
  return std::ranges::all_of(copies_, [](const HostCopy& copy) { return copy.ready(); });
}

void DeviceArray::wait() const {
  for (const Buffer& shard : shards_) shard.wait();
}

Tree<HostCopies> copy_to_host(const DeviceTree& tree) {
  Tree<HostCopies> copies;
  for (const auto& [name, array] : tree) copies.emplace_hint(copies.end(), name, array.copy_to_host());
  return copies;
}

HostTree wait(const Tree<HostCopies>& copies) {
  HostTree out;
  for (const auto& [name, copy] : copies) out.emplace_hint(out.end(), name, copy.wait());
  return out;
}

HostTree to_host(const DeviceTree& tree) { return wait(copy_to_host(tree)); }

}  // namespace pax
