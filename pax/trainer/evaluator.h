#pragma once

#include <functional>
#include <memory>
#include <string>

#include "pax/data/input.h"
#include "pax/metrics/weighted_mean.h"
#include "pax/runtime/program.h"

namespace pax {

/// Runs the evaluation step over one data set.
class Evaluator {
 public:
  /// `program`: variables and `batch/…` to `metrics/…`.
  Evaluator(std::string name, std::shared_ptr<const Program> program, std::shared_ptr<data::Input> input,
            std::function<DeviceTree(const HostTree&)> to_device);

  const std::string& name() const { return name_; }

  /// Means over `eval_loop_num_batches` batches (all, when -1), each metric weighed by its own weight. Ends early and
  /// gives nothing when `stop_requested` says so. Throws RuntimeError when no batch has any weight.
  std::optional<Tree<WeightedScalar>> run(const DeviceTree& variables, const std::function<bool()>& stop_requested);

 private:
  std::string name_;
  std::shared_ptr<const Program> program_;
  std::shared_ptr<data::Input> input_;
  std::function<DeviceTree(const HostTree&)> to_device_;
};

}  // namespace pax
