#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pax/pjrt/plugin.h"

namespace pax {

/// One device as its vendor describes it. Rates are per second; links count one direction, all links of a device
/// together. 0 where nobody says.
struct DeviceKind {
  std::string name;       ///< "TPU v4"
  double peak_flops = 0;  ///< bfloat16, dense
  int64_t memory_bytes = 0;
  double memory_bandwidth = 0;
  double clock_hz = 0;         ///< what a cycle of the compiler's estimates is
  double link_bandwidth = 0;   ///< to the devices of its slice, or of its host for GPUs
  double slice_bandwidth = 0;  ///< to devices of other slices, or other hosts
};

/// Devices to plan for, which need not be there.
struct Machine {
  std::string name;           ///< as the user says it: `2xv4-128`, `h100x64`
  std::string platform;       ///< `tpu`, `cuda` or `cpu`
  std::string topology_name;  ///< the plugin's own, with `options`; empty for CPU
  NamedValues options;
  int64_t slices = 1;                ///< groups of devices with fast links between them
  std::vector<int64_t> slice_shape;  ///< devices of a slice along each dimension of its network
  DeviceKind device;

  int64_t devices_per_slice() const;
  int64_t num_devices() const { return slices * devices_per_slice(); }
};

/// The machine of that name: `v4-64`, `v5p-128`, `v5e-256`, `v6e-64`, `tpu7x-128`, any of them as `2xv4-128` for
/// slices; `a100x8`, `h100x64`, `h200x8`, `b200x8`; `cpux8` for virtual devices. Throws ConfigError naming near ones.
Machine find_machine(std::string_view name);

/// Some names that `find_machine` knows, for help and messages.
std::vector<std::string> machine_names();

/// "v4-8 (4 TPU v4)"
std::string describe(const Machine& machine);

}  // namespace pax
