#pragma once

#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace pax::data {

/// Threads that share out the indices of a loop. With no threads the caller does all.
class WorkerPool {
 public:
  explicit WorkerPool(int num_threads);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  /// Calls `work(i)` once for each i in [0, count), in any order, and waits. Rethrows the error of the lowest index, so
  /// that what is reported does not depend on timing.
  void run(size_t count, const std::function<void(size_t)>& work);

 private:
  void serve();
  void take_indices();

  std::mutex mutex_;
  std::condition_variable wake_, done_;
  const std::function<void(size_t)>* work_ = nullptr;
  size_t count_ = 0;
  std::atomic<size_t> next_{0};
  size_t busy_ = 0;
  uint64_t round_ = 0;
  bool stop_ = false;
  std::exception_ptr error_;
  size_t error_index_ = 0;
  std::vector<std::thread> threads_;
};

}  // namespace pax::data
