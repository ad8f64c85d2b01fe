#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "pax/pjrt/compile_options.h"
#include "pax/pjrt/executable.h"

struct PJRT_TopologyDescription;

namespace pax {

/// Devices that need not be there: programs can be compiled for them all the same.
class Topology {
 public:
  /// `name` and `options` are the plugin's own: for TPU "v4:2x2x1" with `chip_config_name`, …; for GPU any name with
  /// `target_config` and `topology`.
  static Topology create(std::shared_ptr<const Plugin> plugin, std::string_view name, const NamedValues& options = {});

  std::string platform_name() const;
  std::string platform_version() const;
  /// The kind of each device.
  std::vector<std::string> device_kinds() const;
  /// Compiles StableHLO text. Throws PluginError, with code kResourceExhausted when it does not fit in memory.
  Executable compile(std::string_view stablehlo, const CompileOptions& options) const;

 private:
  Topology(std::shared_ptr<const Plugin> plugin, std::shared_ptr<PJRT_TopologyDescription> topology)
      : plugin_(std::move(plugin)), topology_(std::move(topology)) {}

  std::shared_ptr<const Plugin> plugin_;
  std::shared_ptr<PJRT_TopologyDescription> topology_;
};

}  // namespace pax
