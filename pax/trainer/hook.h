#pragma once

#include <string_view>

#include "pax/array/tree.h"
#include "pax/data/batch.h"
#include "pax/runtime/device_array.h"

namespace pax {

/// What is known of a step once its results have arrived. Steps arrive in order.
struct StepResult {
  int64_t step = 0;          ///< updates applied, this one included
  Tree<double> metrics;      ///< `metrics/total_loss/value`, `learning/lr`, …
  data::TokenCount tokens;   ///< of the global batch
  double seconds = 0;        ///< since the results of the step before
  double input_seconds = 0;  ///< of these, waiting for the input
};

/// Why a run ended.
enum class StopReason : uint8_t { kFinished, kPreempted, kDataExhausted, kEarlyStop };

/// Called by the training loop between steps; sees results, never changes them. Time spent here delays the next step.
class Hook {
 public:
  virtual ~Hook() = default;
  /// Results of a step have arrived.
  virtual void on_result(const StepResult&) {}
  /// Whether `after_step` has work at this step; then the results of all steps so far are delivered before it.
  virtual bool wants(int64_t /*step*/) const { return false; }
  /// `step` updates are in `state`. Step 0 is before the first one.
  virtual void after_step(int64_t /*step*/, const DeviceTree& /*state*/) {}
  /// The run ends with `state`, in the order of the hooks.
  virtual void finish(StopReason, int64_t /*step*/, const DeviceTree& /*state*/) {}
};

}  // namespace pax
