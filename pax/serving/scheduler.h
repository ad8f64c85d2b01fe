#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

#include "pax/serving/slot_loop.h"

namespace pax {

/// What a scheduler has done and has to do.
struct SchedulerStats {
  int64_t waiting = 0;  ///< texts in the queue
  int64_t active = 0;   ///< texts being written
  int64_t slots = 0;
  int64_t finished = 0;  ///< texts, since the start
  int64_t tokens = 0;    ///< written, since the start
  int64_t prompt_tokens = 0;
  int64_t steps = 0;  ///< of the model
  double step_seconds = 0;
};

/// Writes texts of many callers side by side in one thread of its own (continuous batching): each joins as soon as a
/// slot is free and leaves when it ends. Safe to call from any thread.
class Scheduler {
 public:
  /// `max_waiting`: texts in the queue beyond which `submit` refuses.
  Scheduler(StepModel& model, int64_t vocab_limit, int64_t max_waiting);
  /// Ends all texts.
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  /// Puts texts in the queue, all or none. False when the queue is full or `stop` was called. Their calls come from the
  /// scheduler's thread and must not wait.
  bool submit(const std::vector<std::shared_ptr<Sequence>>& sequences);
  /// Takes no more texts; those there are go on.
  void drain();
  /// Ends all texts as cancelled and the thread.
  void stop();
  SchedulerStats stats() const;

 private:
  void run();
  std::vector<std::shared_ptr<Sequence>> take_waiting(int64_t room);

  const int64_t max_waiting_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Sequence>> waiting_;
  bool draining_ = false, stopping_ = false;
  SchedulerStats stats_;
  SlotLoop loop_;  ///< of the thread
  std::thread thread_;
};

}  // namespace pax
