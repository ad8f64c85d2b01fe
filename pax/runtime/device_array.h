#pragma once

#include <memory>
#include <vector>

#include "pax/array/tree.h"
#include "pax/ir/sharding.h"
#include "pax/pjrt/client.h"

namespace pax {

/// A mesh and the devices that stand in it: mesh position i (row-major) is the client's device i.
class DeviceMesh {
 public:
  /// Without axes: one device. Throws ConfigError when the mesh does not use as many devices as the client has,
  /// naming both numbers.
  DeviceMesh(std::shared_ptr<const Client> client, Mesh mesh);

  const Client& client() const { return *client_; }
  const Mesh& mesh() const { return mesh_; }
  int64_t num_devices() const { return num_devices_; }

  /// The part of an array of `shape` that mesh position `device` holds: start and size of each dimension.
  struct Part {
    std::vector<int64_t> starts;
    Shape shape;
    bool operator==(const Part&) const = default;
  };
  /// Throws ShapeError when the sharding names an unknown axis, or does not divide a dimension (both numbers named).
  Part part(const Shape& shape, const Sharding& sharding, int64_t device) const;

 private:
  std::shared_ptr<const Client> client_;
  Mesh mesh_;
  int64_t num_devices_;
};

/// A copy of a whole array to the host under way.
class HostCopies {
 public:
  bool ready() const;
  /// The array, put together. Throws PluginError if it could not be computed.
  HostArray wait() const;

 private:
  friend class DeviceArray;
  TensorType type_;
  std::vector<DeviceMesh::Part> parts_;
  std::vector<HostCopy> copies_;
};

/// An array on the devices of a mesh, split or copied over them. Copies are handles of the same memory.
class DeviceArray {
 public:
  DeviceArray() = default;
  /// `shards`: one buffer a mesh position.
  DeviceArray(std::shared_ptr<const DeviceMesh> mesh, TensorType type, Sharding sharding, BufferList shards);

  /// Starts the copy of `array` to the devices.
  static DeviceArray put(std::shared_ptr<const DeviceMesh> mesh, const HostArray& array, Sharding sharding = {},
                         HostTransfer transfer = HostTransfer::kCopy);

  const TensorType& type() const { return type_; }
  const Sharding& sharding() const { return sharding_; }
  const BufferList& shards() const { return shards_; }
  /// Starts a copy of each distinct part. The array may be donated meanwhile.
  HostCopies copy_to_host() const;
  /// The whole array, put together. Waits.
  HostArray to_host() const { return copy_to_host().wait(); }
  void wait() const;

 private:
  std::shared_ptr<const DeviceMesh> mesh_;
  TensorType type_;
  Sharding sharding_;
  BufferList shards_;
};

using DeviceTree = Tree<DeviceArray>;

/// Starts the copies of every leaf: a snapshot, though later steps may donate the tree.
Tree<HostCopies> copy_to_host(const DeviceTree& tree);
HostTree wait(const Tree<HostCopies>& copies);
/// Every leaf on the host; all copies run at once.
HostTree to_host(const DeviceTree& tree);

}  // namespace pax
