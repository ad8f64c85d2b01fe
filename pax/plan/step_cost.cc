#include "pax/plan/step_cost.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "pax/plan/collective.h"
#include "pax/plan/placement.h"
#include "pax/plan/replica_groups.h"
#include "pax/plan/roofline.h"

namespace pax {
namespace {

/// A collective takes this long even for a few bytes, for each device that a message passes.
constexpr double kHopSeconds = 1e-6;
constexpr double kMaxHops = 16;

class Player {
 public:
  Player(const HloModule& module, const Machine& machine, const PlacedMesh& placed)
      : module_(module), machine_(machine), placed_(placed) {}

  StepCost play() {
    run(module_.entry(), 1);
    StepCost cost{.seconds = now_, .compute_s = compute_s_, .exposed_s = exposed_s_};
    for (auto& [key, collective] : collectives_) cost.collectives.push_back(std::move(collective));
    std::ranges::sort(cost.collectives, std::greater(), &CollectiveCost::bytes);
    for (auto& [name, seconds] : layers_) cost.layers.push_back({name, seconds});
    std::ranges::sort(cost.layers, std::greater(), &LayerCost::seconds);
    return cost;
  }

 private:
  /// Plays `computation` once; everything counts `times` times in the sums.
  void run(const HloComputation& computation, double times) {
    std::map<int64_t, double> arrivals;
    std::map<int64_t, CollectiveCost*> started;
    for (const HloInstruction& instruction : computation.instructions) {
      if (instruction.opcode == "while") {
        loop(instruction, times);
      } else if (instruction.opcode == "call" || instruction.opcode == "conditional") {
        for (const int64_t called : instruction.called) run(module_.computation(called), times);
      } else if (is_done(instruction.opcode)) {
        const int64_t start = instruction.operands.empty() ? 0 : instruction.operands[0];
        const auto at = arrivals.find(start);
        if (at != arrivals.end()) wait_until(at->second, times, *started[start], instruction);
      } else if (const auto collective = find_collective(module_, computation, instruction)) {
        CollectiveCost& sum = sum_of(*collective);
        const double seconds = seconds_of(*collective);
        sum.count += static_cast<int64_t>(times);
        sum.bytes += static_cast<int64_t>(static_cast<double>(collective->bytes) * times);
        sum.seconds += seconds * times;
        links_free_ = std::max(links_free_, now_) + seconds;
        if (is_start(instruction.opcode)) {
          arrivals[instruction.id] = links_free_;
          started[instruction.id] = &sum;
        } else {
          wait_until(links_free_, times, sum, instruction);
        }
      } else {
        compute(instruction_seconds(module_, computation, instruction, machine_), times, instruction);
      }
    }
  }

  void loop(const HloInstruction& instruction, double times) {
    if (instruction.called.empty()) return;
    const auto trips = static_cast<double>(module_.trip_count(instruction));
    const double before = now_;
    run(module_.computation(instruction.called[0]), times * trips);
    // The body was played once; the other turns take as long.
    const double turn = now_ - before;
    now_ += turn * (trips - 1);
    links_free_ += turn * (trips - 1);
  }

  void compute(double seconds, double times, const HloInstruction& instruction) {
    now_ += seconds;
    compute_s_ += seconds * times;
    charge(instruction, seconds * times);
  }

  void wait_until(double time, double times, CollectiveCost& sum, const HloInstruction& instruction) {
    const double waited = std::max(0.0, time - now_);
    now_ += waited;
    exposed_s_ += waited * times;
    sum.exposed_s += waited * times;
    charge(instruction, waited * times);
  }

  void charge(const HloInstruction& instruction, double seconds) {
    if (seconds > 0) layers_[layer_of(instruction)] += seconds;
  }

  /// Paths have slashes; what the compiler made up itself has none.
  static std::string layer_of(const HloInstruction& instruction) {
    const std::string_view name = instruction.op_name;
    const bool made_up = name.empty() || name.find('.') != std::string_view::npos;
    return made_up ? "(compiler)" : std::string(name);
  }

  CollectiveCost& sum_of(const Collective& collective) {
    const std::string axes = axes_of_group(placed_.mesh, collective.group);
    CollectiveCost& sum = collectives_[{collective.kind, axes}];
    sum.kind = collective.kind;
    sum.axes = axes;
    return sum;
  }

  double seconds_of(const Collective& collective) const {
    std::vector<int64_t> devices;
    for (const int64_t partition : collective.group) {
      const auto at = static_cast<size_t>(partition);
      if (at < placed_.devices.size()) devices.push_back(placed_.devices[at]);
    }
    if (devices.empty()) devices = placed_.devices;
    const double bandwidth = group_bandwidth(machine_, devices);
    if (bandwidth <= 0) return 0;
    const double hops = std::min(kMaxHops, static_cast<double>(devices.size()));
    return bytes_sent(collective) / bandwidth + kHopSeconds * hops;
  }

  const HloModule& module_;
  const Machine& machine_;
  const PlacedMesh& placed_;
  double now_ = 0, links_free_ = 0, compute_s_ = 0, exposed_s_ = 0;
  std::map<std::pair<std::string, std::string>, CollectiveCost> collectives_;
  std::map<std::string, double> layers_;
};

}  // namespace

StepCost step_cost(const HloModule& module, const Machine& machine, const PlacedMesh& placed) {
  return Player(module, machine, placed).play();
}

}  // namespace pax
