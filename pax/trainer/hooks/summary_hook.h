#pragma once

#include <functional>

#include "pax/metrics/event_file.h"
#include "pax/metrics/json_lines.h"
#include "pax/metrics/progress.h"
#include "pax/trainer/hook.h"

namespace pax {

/// What speeds are measured against.
struct SpeedLimits {
  double flops_per_step = 0;    ///< of the model: forward and backward, nothing computed twice
  double peak_flops_per_s = 0;  ///< of all devices together; 0: not known
};

struct SummaryOptions {
  std::filesystem::path job_log_dir;
  int64_t first_step = 0;
  int64_t num_steps = 0;
  int64_t interval = 100;  ///< updates between TensorBoard summaries
  std::string loss_name = "total_loss";
  SpeedLimits limits;
  std::function<int64_t()> compile_count;
};

/// Writes `metrics.jsonl` (a line a step), TensorBoard summaries (`summaries/train`) and the progress display.
class SummaryHook final : public Hook {
 public:
  SummaryHook(SummaryOptions options, ProgressDisplay& display);
  void on_result(const StepResult& result) override;
  void finish(StopReason reason, int64_t step, const DeviceTree& state) override;

 private:
  void write_line(const StepResult& result);
  void write_summaries(const StepResult& result);

  const SummaryOptions options_;
  ProgressDisplay& display_;
  JsonLinesWriter lines_;
  EventFileWriter events_;
  double smoothed_seconds_ = 0;  ///< of a step
  int64_t counted_ = 0;
  double window_seconds_ = 0;  ///< since the last summary
  int64_t window_steps_ = 0;
};

}  // namespace pax
