#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pax/data/wire.h"
#include "pax/ir/sharding.h"

namespace pax {

/// Appends what a repeated whole-number field holds, packed or not.
void append_numbers(const data::WireReader::Field& field, std::vector<int64_t>& out);

/// Groups of an xla.IotaReplicaGroupListProto: numbers 0, 1, 2, …, reshaped, transposed and cut.
std::vector<std::vector<int64_t>> read_iota_groups(std::string_view bytes);

/// Groups of partitions of an xla.CollectiveDeviceListProto: listed, or an iota.
std::vector<std::vector<int64_t>> read_device_list(std::string_view bytes);

/// Groups of an xla.MeshAxesReplicaGroupListProto: all devices of a mesh that differ along some of its axes only.
std::vector<std::vector<int64_t>> read_mesh_axes_groups(std::string_view bytes);

/// The axes of `mesh` along which the members of a group differ, as "data" or "replica,data"; "all" for an empty group.
std::string axes_of_group(const Mesh& mesh, const std::vector<int64_t>& group);

}  // namespace pax
