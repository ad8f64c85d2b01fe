#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pax/pjrt/plugin.h"

namespace pax {

/// How a program is compiled. The partitions are the devices of the mesh that it is sharded over.
struct CompileOptions {
  int64_t num_replicas = 1;
  int64_t num_partitions = 1;
  /// Shardings in the program are Shardy's.
  bool use_shardy = true;
  /// Ids of the devices, partition by partition for each replica in turn; empty: 0, 1, 2, …
  std::vector<int64_t> device_ids;
  /// XLA's debug options by name, `xla_…`; the plugin refuses those that it does not know.
  NamedValues xla_flags;
};

/// The bytes of XLA's CompileOptionsProto for these options.
std::string serialize(const CompileOptions& options);

}  // namespace pax
