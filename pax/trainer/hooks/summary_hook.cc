#include "pax/trainer/hooks/summary_hook.h"

#include <cmath>

namespace pax {
namespace {

double value_of(const StepResult& result, const std::string& name) {
  const auto at = result.metrics.find(name);
  return at == result.metrics.end() ? NAN : at->second;
}

}  // namespace

SummaryHook::SummaryHook(SummaryOptions options, ProgressDisplay& display)
    : options_(std::move(options)),
      display_(display),
      lines_(options_.job_log_dir / "metrics.jsonl", options_.first_step),
      events_(options_.job_log_dir / "summaries" / "train", options_.first_step + 1) {}

void SummaryHook::on_result(const StepResult& result) {
  // The first step of a process waits for what is set up on the way: it says nothing of the speed.
  const bool steady = ++counted_ > 1;
  if (steady) smoothed_seconds_ = counted_ == 2 ? result.seconds : 0.9 * smoothed_seconds_ + 0.1 * result.seconds;
  window_seconds_ += result.seconds;
  ++window_steps_;
  write_line(result);
  if (result.step % options_.interval == 0 || result.step == options_.num_steps) write_summaries(result);

  Progress progress{.step = result.step, .total_steps = options_.num_steps};
  progress.loss = value_of(result, "metrics/" + options_.loss_name + "/value");
  if (steady && smoothed_seconds_ > 0) {
    progress.tokens_per_s = static_cast<double>(result.tokens.tokens) / smoothed_seconds_;
    if (options_.limits.peak_flops_per_s > 0) {
      progress.mfu = options_.limits.flops_per_step / smoothed_seconds_ / options_.limits.peak_flops_per_s;
    }
    progress.seconds_left = smoothed_seconds_ * static_cast<double>(options_.num_steps - result.step);
  }
  display_.update(progress);
}

void SummaryHook::write_line(const StepResult& result) {
  const double seconds = std::max(result.seconds, 1e-9);
  const double peak = options_.limits.peak_flops_per_s;
  lines_.write(result.step, {{"loss", value_of(result, "metrics/" + options_.loss_name + "/value")},
                             {"learning_rate", value_of(result, "learning/lr")},
                             {"grad_norm", value_of(result, "learning/raw_grad_norm")},
                             {"tokens", result.tokens.tokens},
                             {"slots", result.tokens.slots},
                             {"tokens_per_s", static_cast<double>(result.tokens.tokens) / seconds},
                             {"mfu", peak > 0 ? options_.limits.flops_per_step / seconds / peak : NAN},
                             {"step_seconds", result.seconds},
                             {"input_wait_seconds", result.input_seconds},
                             {"compile_count", options_.compile_count()}});
}

void SummaryHook::write_summaries(const StepResult& result) {
  for (const auto& [name, value] : result.metrics) {
    if (name.starts_with("metrics/")) {
      const std::string metric = name.substr(8, name.rfind('/') - 8);
      events_.scalar(result.step, "Metrics/" + metric + (name.ends_with("/weight") ? "-weight" : ""), value);
    } else {
      events_.scalar(result.step, name, value);
    }
  }
  events_.scalar(result.step, "loss", value_of(result, "metrics/" + options_.loss_name + "/value"));
  if (window_seconds_ > 0)
    events_.scalar(result.step, "Steps/sec", static_cast<double>(window_steps_) / window_seconds_);
  window_seconds_ = 0;
  window_steps_ = 0;
}

void SummaryHook::finish(StopReason, int64_t, const DeviceTree&) {
  lines_.close();
  events_.close();
}

}  // namespace pax
