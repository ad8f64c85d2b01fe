#include "pax/optim/static_accumulator.h"

#include <fmt/format.h>

#include "pax/ops/constant.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/logic.h"
#include "pax/optim/checked.h"
#include "pax/optim/update_rules.h"

namespace pax {
namespace {

constexpr const char* kSum = "raw/accumulated_update";
constexpr std::string_view kRaw = "raw/";
constexpr std::string_view kBase = "raw/base_state/";

/// The base optimizer's slot names as they stand in this one's state, and back.
std::string outer_name(std::string_view base) { return std::string(kBase).append(base.substr(kRaw.size())); }
std::string base_name(std::string_view outer) { return std::string(kRaw).append(outer.substr(kBase.size())); }

/// What the base optimizer leaves unset comes from around it, and the reverse.
StaticAccumulator::Config completed(StaticAccumulator::Config config) {
  checked(config);
  config.optimizer_tpl = config.optimizer_tpl.clone();
  const auto base_schedule = config.optimizer_tpl.get<Tpl<Schedule>>("lr_schedule");
  if (!base_schedule) {
    config.optimizer_tpl.set("lr_schedule", config.lr_schedule);
  } else if (!config.lr_schedule) {
    config.lr_schedule = base_schedule;
  }
  if (config.learning_rate == 0) config.learning_rate = config.optimizer_tpl.get<double>("learning_rate");
  return config;
}

}  // namespace

void StaticAccumulator::Config::validate(config::Errors& errors) const {
  OptimizerConfig::validate(errors);
  if (!optimizer_tpl) errors.add("optimizer_tpl", "is not set; name the optimizer that takes the steps");
  if (num_sub_batches < 1) errors.add("num_sub_batches", fmt::format("{} must be at least 1", num_sub_batches));
}

StaticAccumulator::StaticAccumulator(const Config& config)
    : Optimizer(completed(config)),
      num_sub_batches_(config.num_sub_batches),
      base_(completed(config).optimizer_tpl.build()) {}

std::vector<Slot> StaticAccumulator::raw_slots(const Leaf& leaf) const {
  std::vector<Slot> slots{slot_like(leaf, kSum)};
  for (Slot& slot : base_->raw_slots(leaf)) {
    slot.name = outer_name(slot.name);
    slots.push_back(std::move(slot));
  }
  return slots;
}

LeafUpdate StaticAccumulator::raw_update(const LeafStep& step) const {
  const auto n = static_cast<double>(num_sub_batches_);
  const Tensor emits = eq(remainder(step.count, full_like(step.count, n)), n - 1);
  const Tensor sum = step.slot(kSum) + step.grad;

  LeafStep base{.leaf = step.leaf, .grad = sum / n, .weight = step.weight, .count = step.count / n};
  base.learning_rate = learning_rate(base.count);
  for (const auto& [name, value] : step.slots) {
    if (name.starts_with(kBase)) base.slots.emplace_back(base_name(name), value);
  }
  const LeafUpdate taken = base_->raw_update(base);

  LeafUpdate out{.update = select(emits, taken.update, 0.0)};
  out.slots.emplace_back(kSum, select(emits, 0.0, sum));
  for (const auto& [name, value] : taken.slots) {
    out.slots.emplace_back(outer_name(name), select(emits, value, base.slot(name)));
  }
  return out;
}

template const config::ConfigType& config::type_of<StaticAccumulator::Config>();

}  // namespace pax
