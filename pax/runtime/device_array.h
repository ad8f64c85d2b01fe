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
  /// The whole array, put together. Waits.
  HostArray to_host() const;
  void wait() const;

 private:
  std::shared_ptr<const DeviceMesh> mesh_;
  TensorType type_;
  Sharding sharding_;
  BufferList shards_;
};

using DeviceTree = Tree<DeviceArray>;

/// Every leaf on the host; all copies run at once.
HostTree to_host(const DeviceTree& tree);

}  // namespace pax
