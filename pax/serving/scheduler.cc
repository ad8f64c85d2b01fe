#include "pax/serving/scheduler.h"

#include <chrono>
#include <exception>

#include "pax/base/log.h"

namespace pax {

Scheduler::Scheduler(StepModel& model, int64_t vocab_limit, int64_t max_waiting)
    : max_waiting_(max_waiting), loop_(model, vocab_limit) {
  stats_.slots = model.rows();
  thread_ = std::thread([this] { run(); });
}

Scheduler::~Scheduler() { stop(); }

bool Scheduler::submit(const std::vector<std::shared_ptr<Sequence>>& sequences) {
  {
    const std::lock_guard lock(mutex_);
    const auto waiting = static_cast<int64_t>(waiting_.size() + sequences.size());
    if (draining_ || stopping_ || waiting > max_waiting_) return false;
    for (const auto& sequence : sequences) {
      stats_.prompt_tokens += static_cast<int64_t>(sequence->prompt.size());
      waiting_.push_back(sequence);
    }
  }
  changed_.notify_one();
  return true;
}

void Scheduler::drain() {
  const std::lock_guard lock(mutex_);
  draining_ = true;
}

void Scheduler::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

SchedulerStats Scheduler::stats() const {
  const std::lock_guard lock(mutex_);
  SchedulerStats stats = stats_;
  stats.waiting = static_cast<int64_t>(waiting_.size());
  return stats;
}

std::vector<std::shared_ptr<Sequence>> Scheduler::take_waiting(int64_t room) {
  std::vector<std::shared_ptr<Sequence>> taken;
  while (!waiting_.empty() && static_cast<int64_t>(taken.size()) < room) {
    taken.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
  }
  return taken;
}

void Scheduler::run() {
  while (true) {
    std::vector<std::shared_ptr<Sequence>> joining;
    {
      std::unique_lock lock(mutex_);
      stats_.active = loop_.active();
      stats_.finished = loop_.finished();
      changed_.wait(lock, [&] { return stopping_ || !waiting_.empty() || loop_.busy(); });
      if (stopping_) break;
      joining = take_waiting(stats_.slots - loop_.active());
      stats_.active += static_cast<int64_t>(joining.size());
    }
    for (const auto& sequence : joining) loop_.admit(sequence);
    if (!loop_.busy()) continue;
    const auto start = std::chrono::steady_clock::now();
    const int64_t texts = loop_.active();
    try {
      loop_.turn();
    } catch (const std::exception& error) {
      log_line(LogLevel::kError, error.what());
      loop_.end_all(FinishReason::kError, error.what());
    }
    const std::lock_guard lock(mutex_);
    ++stats_.steps;
    stats_.tokens += texts;
    stats_.step_seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  loop_.end_all(FinishReason::kCancelled);
  std::deque<std::shared_ptr<Sequence>> rest;
  {
    const std::lock_guard lock(mutex_);
    rest.swap(waiting_);
    stats_.active = 0;
  }
  for (const auto& sequence : rest) sequence->on_end(FinishReason::kCancelled, "");
}

}  // namespace pax
