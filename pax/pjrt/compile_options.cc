#include "pax/pjrt/compile_options.h"

#include <bit>
#include <numeric>

#include "pax/base/error.h"

namespace pax {
namespace {

// Field numbers of xla.CompileOptionsProto, ExecutableBuildOptionsProto and DeviceAssignmentProto.
constexpr uint32_t kBuildOptions = 3;
constexpr uint32_t kNumReplicas = 4;
constexpr uint32_t kNumPartitions = 5;
constexpr uint32_t kUseSpmdPartitioning = 6;
constexpr uint32_t kDeviceAssignment = 9;
constexpr uint32_t kUseShardy = 19;
constexpr uint32_t kReplicaCount = 1;
constexpr uint32_t kComputationCount = 2;
constexpr uint32_t kComputationDevices = 3;
constexpr uint32_t kReplicaDeviceIds = 1;
// A map from name to OptionOverrideProto, which holds text, truth value, whole number or number.
constexpr uint32_t kOverrides = 7;
constexpr uint32_t kMapKey = 1, kMapValue = 2;
constexpr uint32_t kText = 1, kBool = 2, kInteger = 3, kDouble = 4;

void append_varint(std::string& out, uint64_t value) {
  while (value >= 0x80) {
    out.push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<char>(value));
}

void append_number(std::string& out, uint32_t field, int64_t value) {
  append_varint(out, field << 3);
  append_varint(out, static_cast<uint64_t>(value));
}

void append_bytes(std::string& out, uint32_t field, const std::string& bytes) {
  append_varint(out, field << 3 | 2);
  append_varint(out, bytes.size());
  out += bytes;
}

std::string option_value(const std::string& name, const NamedValue& value) {
  std::string out;
  if (const auto* text = std::get_if<std::string>(&value)) {
    append_bytes(out, kText, *text);
  } else if (const auto* truth = std::get_if<bool>(&value)) {
    append_number(out, kBool, *truth ? 1 : 0);
  } else if (const auto* integer = std::get_if<int64_t>(&value)) {
    append_number(out, kInteger, *integer);
  } else if (const auto* number = std::get_if<float>(&value)) {
    append_varint(out, kDouble << 3 | 1);
    const auto bits = std::bit_cast<uint64_t>(static_cast<double>(*number));
    for (int shift = 0; shift < 64; shift += 8) out.push_back(static_cast<char>(bits >> shift));
  } else {
    fail<RuntimeError>("compile options: XLA's flag {} is a list; give text, a number or a truth value", name);
  }
  return out;
}

std::string device_assignment(const CompileOptions& options) {
  std::vector<int64_t> ids = options.device_ids;
  if (ids.empty()) {
    ids.resize(static_cast<size_t>(options.num_replicas * options.num_partitions));
    std::iota(ids.begin(), ids.end(), 0);
  }
  std::string out;
  append_number(out, kReplicaCount, options.num_replicas);
  append_number(out, kComputationCount, options.num_partitions);
  for (int64_t partition = 0; partition < options.num_partitions; ++partition) {
    std::string packed;
    for (int64_t replica = 0; replica < options.num_replicas; ++replica) {
      append_varint(packed,
                    static_cast<uint64_t>(ids[static_cast<size_t>(replica * options.num_partitions + partition)]));
    }
    std::string devices;
    append_bytes(devices, kReplicaDeviceIds, packed);
    append_bytes(out, kComputationDevices, devices);
  }
  return out;
}

}  // namespace

std::string serialize(const CompileOptions& options) {
  const int64_t devices = options.num_replicas * options.num_partitions;
  if (options.num_replicas < 1 || options.num_partitions < 1) {
    fail<RuntimeError>("compile options: {} replicas of {} partitions; give at least one of each", options.num_replicas,
                       options.num_partitions);
  }
  if (!options.device_ids.empty() && static_cast<int64_t>(options.device_ids.size()) != devices) {
    fail<RuntimeError>("compile options: {} device ids for {} replicas of {} partitions", options.device_ids.size(),
                       options.num_replicas, options.num_partitions);
  }
  std::string build;
  append_number(build, kNumReplicas, options.num_replicas);
  append_number(build, kNumPartitions, options.num_partitions);
  append_number(build, kUseSpmdPartitioning, 1);
  append_bytes(build, kDeviceAssignment, device_assignment(options));
  append_number(build, kUseShardy, options.use_shardy ? 1 : 0);
  std::string out;
  append_bytes(out, kBuildOptions, build);
  for (const auto& [name, value] : options.xla_flags) {
    std::string entry;
    append_bytes(entry, kMapKey, name);
    append_bytes(entry, kMapValue, option_value(name, value));
    append_bytes(out, kOverrides, entry);
  }
  return out;
}

}  // namespace pax
