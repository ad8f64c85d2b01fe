// GPU machines: hosts of eight devices. Figures are NVIDIA's: data sheets of A100 80GB SXM, H100 SXM, H200 SXM and HGX
// B200 (dense bfloat16 rate, memory, NVLink), one 400 Gb/s port a device between hosts (200 Gb/s for A100), and the
// limits of each compute capability from the CUDA programming guide.

#include <fmt/format.h>

#include <array>

#include "pax/plan/machine_kinds.h"

namespace pax {
namespace {

constexpr int64_t kGpusOfHost = 8;
constexpr int64_t kMaxGpus = 65536;

struct GpuKind {
  std::string_view prefix;
  DeviceKind device;
  int cores;
  int fpus_of_core;
  int64_t shared_memory_of_core;
  int64_t l2_bytes;
  int capability_major;
  int capability_minor;
  std::string_view features;  ///< of the compute capability
};

const std::array<GpuKind, 4>& kinds() {
  static const std::array<GpuKind, 4> kKinds{{
      {"a100",
       {"NVIDIA A100-SXM4-80GB", 312e12, 85'097'971'712, 2039e9, 1.41e9, 300e9, 25e9},
       108,
       64,
       167'936,
       41'943'040,
       8,
       0,
       ""},
      {"h100",
       {"NVIDIA H100 80GB HBM3", 989e12, 84'942'979'072, 3352e9, 1.98e9, 450e9, 50e9},
       132,
       128,
       233'472,
       52'428'800,
       9,
       0,
       "ACCELERATED_FEATURES"},
      {"h200",
       {"NVIDIA H200", 989e12, 150'109'880'320, 4800e9, 1.98e9, 450e9, 50e9},
       132,
       128,
       233'472,
       52'428'800,
       9,
       0,
       "ACCELERATED_FEATURES"},
      {"b200",
       {"NVIDIA B200", 2250e12, 191'514'017'792, 7700e9, 1.965e9, 900e9, 50e9},
       148,
       128,
       233'472,
       132'644'864,
       10,
       0,
       "ACCELERATED_FEATURES"},
  }};
  return kKinds;
}

/// XLA's GpuTargetConfigProto in text form.
std::string target_config(const GpuKind& kind) {
  const std::string features = kind.features.empty() ? "" : fmt::format(" feature_extension: {}", kind.features);
  return fmt::format(
      "gpu_device_info {{ threads_per_block_limit: 1024 threads_per_warp: 32 shared_memory_per_block: 49152 "
      "shared_memory_per_core: {} threads_per_core_limit: 2048 core_count: {} fpus_per_core: {} "
      "block_dim_limit_x: 2147483647 block_dim_limit_y: 65535 block_dim_limit_z: 65535 memory_bandwidth: {} "
      "l2_cache_size: {} clock_rate_ghz: {} device_memory_size: {} shared_memory_per_block_optin: {} "
      "registers_per_core_limit: 65536 registers_per_block_limit: 65536 "
      "cuda_compute_capability {{ major: {} minor: {}{} }} }} "
      "platform_name: \"CUDA\" dnn_version_info {{ major: 9 minor: 8 }} runtime_version {{ major: 12 minor: 8 }} "
      "device_description_str: \"{}\"",
      kind.shared_memory_of_core, kind.cores, kind.fpus_of_core, static_cast<int64_t>(kind.device.memory_bandwidth),
      kind.l2_bytes, kind.device.clock_hz / 1e9, kind.device.memory_bytes, kind.shared_memory_of_core - 1024,
      kind.capability_major, kind.capability_minor, features, kind.device.name);
}

}  // namespace

std::optional<Machine> find_gpu(std::string_view name) {
  for (const GpuKind& kind : kinds()) {
    if (!name.starts_with(kind.prefix) || name.substr(kind.prefix.size()).substr(0, 1) != "x") continue;
    const auto count = positive_number(name.substr(kind.prefix.size() + 1));
    if (!count || *count > kMaxGpus || (*count > kGpusOfHost && *count % kGpusOfHost != 0)) return std::nullopt;
    const int64_t of_host = std::min(*count, kGpusOfHost);
    Machine machine;
    machine.name = name;
    machine.platform = "cuda";
    machine.topology_name = kind.prefix;
    machine.options = {{"target_config", target_config(kind)},
                       {"topology", fmt::format("1x{}x{}", *count / of_host, of_host)}};
    machine.slices = *count / of_host;
    machine.slice_shape = {of_host};
    machine.device = kind.device;
    return machine;
  }
  return std::nullopt;
}

std::vector<std::string> gpu_names() {
  std::vector<std::string> names;
  for (const GpuKind& kind : kinds()) {
    for (const int count : {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024}) {
      names.push_back(fmt::format("{}x{}", kind.prefix, count));
    }
  }
  return names;
}

}  // namespace pax
