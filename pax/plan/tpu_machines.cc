// TPU slices by the names of Google Cloud. Figures are those of the product pages (cloud.google.com/tpu/docs): peak
// bfloat16 rate, HBM size and rate, and interconnect of a chip.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "pax/plan/machine_kinds.h"

namespace pax {
namespace {

struct TpuFamily {
  std::string_view prefix;    ///< of user's names
  std::string_view topology;  ///< of the plugin's
  int64_t names_per_chip;     ///< what the number of a name counts, in chips
  int64_t devices_per_chip;
  size_t dimensions;
  int64_t max_chips;
  bool megacore;  ///< the two cores of a chip are one device
  DeviceKind device;
};

constexpr int64_t kGiB = int64_t{1} << 30;

const std::array<TpuFamily, 5>& families() {
  static const std::array<TpuFamily, 5> kFamilies{{
      {"v4", "v4", 2, 1, 3, 4096, true, {"TPU v4", 275e12, 32 * kGiB, 1228e9, 1.05e9, 6 * 45e9, 6.25e9}},
      {"v5p", "v5", 2, 1, 3, 8960, true, {"TPU v5p", 459e12, 95 * kGiB, 2765e9, 1.75e9, 6 * 90e9, 6.25e9}},
      {"v5e", "v5e", 1, 1, 2, 256, false, {"TPU v5e", 197e12, 16 * kGiB, 819e9, 1.5e9, 4 * 45e9, 3.125e9}},
      {"v6e", "v6e", 1, 1, 2, 256, false, {"TPU v6e", 918e12, 32 * kGiB, 1638e9, 1.75e9, 4 * 90e9, 12.5e9}},
      {"tpu7x", "tpu7x", 2, 2, 3, 9216, false, {"TPU7x", 1153e12, 96 * kGiB, 3690e9, 1.9e9, 3 * 90e9, 6.25e9}},
  }};
  return kFamilies;
}

/// The flattest box of `dimensions` sides with `chips` chips, as slices are made: sides of up to 4 chips are powers of
/// two, longer ones are multiples of 4.
std::vector<int64_t> box(int64_t chips, size_t dimensions) {
  const auto side = [](int64_t length) { return length == 1 || length == 2 || length % 4 == 0; };
  std::vector<int64_t> best;
  int64_t best_sum = std::numeric_limits<int64_t>::max();
  for (int64_t a = 1; a * a <= chips; ++a) {
    if (chips % a != 0 || !side(a)) continue;
    for (int64_t b = a; a * b <= chips; ++b) {
      const int64_t c = chips / a / b;
      if (chips % (a * b) != 0 || !side(b) || !side(c) || c < b) continue;
      if (dimensions == 2 && a > 1) continue;
      // A side of 1 beside one above 2 leaves the torus without its third dimension.
      if (dimensions == 3 && chips >= 8 && a == 1) continue;
      if (a + b + c >= best_sum) continue;
      best_sum = a + b + c;
      best = {a, b, c};
    }
  }
  if (!best.empty() && dimensions == 2) best.erase(best.begin());
  // The smallest 3-D slice is a host's square.
  if (dimensions == 3 && chips == 4) best = {2, 2, 1};
  return best;
}

/// Names of v5e and v6e are powers of two.
bool offered(const TpuFamily& family, int64_t chips) {
  if (family.dimensions == 2) return (chips & (chips - 1)) == 0 && chips != 2;
  return chips == 1 ? family.devices_per_chip > 1 : chips >= 4;
}

std::optional<Machine> slice_of(const TpuFamily& family, int64_t number) {
  if (number % family.names_per_chip != 0) return std::nullopt;
  const int64_t chips = number / family.names_per_chip;
  if (chips > family.max_chips || !offered(family, chips)) return std::nullopt;
  const std::vector<int64_t> sides = box(chips, family.dimensions);
  if (sides.empty()) return std::nullopt;
  Machine machine;
  machine.name = fmt::format("{}-{}", family.prefix, number);
  machine.platform = "tpu";
  machine.topology_name = fmt::format("{}:{}", family.topology, fmt::join(sides, "x"));
  const std::vector<int64_t> host = chips == 1 ? std::vector<int64_t>{1, 1, 1} : std::vector<int64_t>{2, 2, 1};
  machine.options = {{"chip_config_name", std::string(family.megacore ? "megacore" : "default")},
                     {"chips_per_host_bounds", host},
                     {"num_slices", int64_t{1}}};
  // The plugin numbers devices with the cores of a chip fastest, then the first side.
  if (family.devices_per_chip > 1) machine.slice_shape.push_back(family.devices_per_chip);
  machine.slice_shape.insert(machine.slice_shape.end(), sides.begin(), sides.end());
  machine.device = family.device;
  return machine;
}

}  // namespace

std::optional<Machine> find_tpu(std::string_view name) {
  const size_t dash = name.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto number = positive_number(name.substr(dash + 1));
  if (!number) return std::nullopt;
  for (const TpuFamily& family : families()) {
    if (family.prefix == name.substr(0, dash)) return slice_of(family, *number);
  }
  return std::nullopt;
}

std::vector<std::string> tpu_names() {
  std::vector<std::string> names;
  for (const TpuFamily& family : families()) {
    for (int64_t number = 1; number <= 4096; number *= 2) {
      if (const auto machine = slice_of(family, number)) names.push_back(machine->name);
    }
    if (const auto machine = slice_of(family, 384)) names.push_back(machine->name);
  }
  return names;
}

}  // namespace pax
