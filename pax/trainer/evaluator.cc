#include "pax/trainer/evaluator.h"

#include "pax/base/error.h"

namespace pax {
namespace {

constexpr std::string_view kPrefix = "metrics/";
constexpr std::string_view kValue = "/value";

/// The pairs among a step's outputs: `metrics/<name>/value` with `metrics/<name>/weight`.
Tree<WeightedScalar> metric_pairs(const HostTree& outputs) {
  Tree<WeightedScalar> pairs;
  for (const auto& [output, value] : outputs) {
    if (!output.starts_with(kPrefix) || !output.ends_with(kValue)) continue;
    const std::string name = output.substr(kPrefix.size(), output.size() - kPrefix.size() - kValue.size());
    pairs[name] = {value.item(), outputs.at(std::string(kPrefix) + name + "/weight").item()};
  }
  return pairs;
}

}  // namespace

Evaluator::Evaluator(std::string name, std::shared_ptr<const Program> program, std::shared_ptr<data::Input> input,
                     std::function<DeviceTree(const HostTree&)> to_device)
    : name_(std::move(name)),
      program_(std::move(program)),
      input_(std::move(input)),
      to_device_(std::move(to_device)) {}

std::optional<Tree<WeightedScalar>> Evaluator::run(const DeviceTree& variables,
                                                   const std::function<bool()>& stop_requested) {
  if (input_->common().reset_for_eval || input_->common().eval_loop_num_batches < 0) input_->reset();
  WeightedMeans means;
  int64_t count = 0;
  const int64_t limit = input_->common().eval_loop_num_batches;
  for (; limit < 0 || count < limit; ++count) {
    if (stop_requested()) return std::nullopt;
    const std::optional<HostTree> batch = input_->next_padded();
    if (!batch) break;
    DeviceTree inputs = to_device_(*batch);
    for (const auto& argument : program_->text().arguments) {
      if (const auto at = variables.find(argument.name); at != variables.end()) inputs.insert(*at);
    }
    means.add(metric_pairs(to_host(program_->run(inputs))));
  }
  if (count == 0) fail<RuntimeError>("eval input \"{}\" has no batch; give it more data or a smaller batch", name_);
  return means.result();
}

}  // namespace pax
