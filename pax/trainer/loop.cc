#include "pax/trainer/loop.h"

#include <algorithm>
#include <chrono>
#include <deque>

namespace pax {
namespace {

using Clock = std::chrono::steady_clock;

class Loop {
 public:
  explicit Loop(const LoopInputs& inputs) : in_(inputs), step_(inputs.first_step) {}

  LoopEnd run() {
    after_step();
    StopReason reason = StopReason::kFinished;
    while (step_ < in_.num_steps) {
      if (in_.stop_requested()) {
        reason = StopReason::kPreempted;
        break;
      }
      const auto waited_before = in_.batches.waited();
      const std::optional<HostTree> batch = in_.batches.next();
      if (!batch) {
        reason = StopReason::kDataExhausted;
        break;
      }
      send(*batch, (in_.batches.waited() - waited_before).count());
      after_step();
    }
    deliver(0);
    for (const auto& hook : in_.hooks) hook->finish(reason, step_, in_.state);
    return {reason, step_};
  }

 private:
  struct Sent {
    StepResult result;
    DeviceTree outputs;
  };

  void send(const HostTree& batch, double input_seconds) {
    Sent sent;
    sent.result.tokens = data::count_tokens(batch);
    in_.check_batch(batch, sent.result.tokens);
    sent.result.step = ++step_;
    sent.result.input_seconds = input_seconds;
    sent.outputs = in_.step.step(in_.state, in_.to_device(batch));
    sent_.push_back(std::move(sent));
    deliver(static_cast<size_t>(in_.max_inflight) - 1);
  }

  /// Hands results to the hooks until at most `left` steps are still on their way.
  void deliver(size_t left) {
    while (sent_.size() > left) {
      Sent sent = std::move(sent_.front());
      sent_.pop_front();
      for (const auto& [name, value] : to_host(sent.outputs)) {
        if (value.shape().rank() == 0) sent.result.metrics[name] = value.item();
      }
      const auto now = Clock::now();
      sent.result.seconds = std::chrono::duration<double>(now - last_).count();
      last_ = now;
      for (const auto& hook : in_.hooks) hook->on_result(sent.result);
    }
  }

  void after_step() {
    if (std::ranges::none_of(in_.hooks, [&](const auto& hook) { return hook->wants(step_); })) return;
    deliver(0);
    for (const auto& hook : in_.hooks) {
      if (hook->wants(step_)) hook->after_step(step_, in_.state);
    }
    last_ = Clock::now();
  }

  const LoopInputs& in_;
  int64_t step_;
  std::deque<Sent> sent_;
  Clock::time_point last_ = Clock::now();
};

}  // namespace

LoopEnd run_loop(const LoopInputs& inputs) { return Loop(inputs).run(); }

}  // namespace pax
