#include "pax/plan/machine.h"

#include <charconv>

#include "pax/base/error.h"
#include "pax/base/text.h"
#include "pax/plan/machine_kinds.h"

namespace pax {
namespace {

constexpr int64_t kMaxSlices = 1024;
constexpr int64_t kMaxCpuDevices = 4096;

/// `cpux8`: virtual devices of this machine.
std::optional<Machine> find_cpu(std::string_view name) {
  int64_t devices = 1;
  if (name != "cpu") {
    if (!name.starts_with("cpux")) return std::nullopt;
    const auto number = positive_number(name.substr(4));
    if (!number || *number > kMaxCpuDevices) return std::nullopt;
    devices = *number;
  }
  Machine machine;
  machine.name = name;
  machine.platform = "cpu";
  machine.slice_shape = {devices};
  machine.device.name = "CPU";
  return machine;
}

/// `2xv4-128` is two slices of `v4-128`.
std::optional<Machine> find_slices(std::string_view name) {
  const size_t x = name.find('x');
  if (x == std::string_view::npos) return std::nullopt;
  const auto slices = positive_number(name.substr(0, x));
  if (!slices || *slices > kMaxSlices) return std::nullopt;
  auto machine = find_tpu(name.substr(x + 1));
  if (!machine) return std::nullopt;
  machine->name = name;
  machine->slices = *slices;
  for (auto& [option, value] : machine->options) {
    if (option == "num_slices") value = *slices;
  }
  return machine;
}

}  // namespace

std::optional<int64_t> positive_number(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 1) return std::nullopt;
  return number;
}

int64_t Machine::devices_per_slice() const {
  int64_t devices = 1;
  for (const int64_t size : slice_shape) devices *= size;
  return devices;
}

std::vector<std::string> machine_names() {
  std::vector<std::string> names = tpu_names();
  for (std::string& name : gpu_names()) names.push_back(std::move(name));
  for (const char* name : {"2xv4-128", "4xv4-128", "2xv5e-256", "cpux8"}) names.emplace_back(name);
  return names;
}

Machine find_machine(std::string_view name) {
  for (const auto& find : {find_tpu, find_gpu, find_cpu, find_slices}) {
    if (auto machine = find(name)) return *machine;
  }
  fail<ConfigError>(
      "topology \"{}\" is not known.{} Names are like v4-8, v5p-128, v5e-256, v6e-64, tpu7x-128, 2xv4-128 (two "
      "slices), "
      "a100x8, h100x64, h200x8, b200x8, cpux8",
      name, did_you_mean(name, machine_names()));
}

std::string describe(const Machine& machine) {
  return fmt::format("{} ({} {}{})", machine.name, machine.num_devices(), machine.device.name,
                     machine.slices > 1 ? fmt::format(" in {} slices", machine.slices) : "");
}

}  // namespace pax
