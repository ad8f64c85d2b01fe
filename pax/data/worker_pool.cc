#include "pax/data/worker_pool.h"

namespace pax::data {

WorkerPool::WorkerPool(int num_threads) {
  for (int i = 0; i < num_threads; ++i) threads_.emplace_back([this] { serve(); });
}

WorkerPool::~WorkerPool() {
  {
    const std::scoped_lock lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void WorkerPool::take_indices() {
  while (true) {
    const size_t index = next_.fetch_add(1);
    if (index >= count_) return;
    try {
      (*work_)(index);
    } catch (...) {
      const std::scoped_lock lock(mutex_);
      if (!error_ || index < error_index_) {
        error_ = std::current_exception();
        error_index_ = index;
      }
    }
  }
}

void WorkerPool::serve() {
  uint64_t seen = 0;
  while (true) {
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return stop_ || round_ != seen; });
      if (stop_) return;
      seen = round_;
    }
    take_indices();
    const std::scoped_lock lock(mutex_);
    if (--busy_ == 0) done_.notify_all();
  }
}

void WorkerPool::run(size_t count, const std::function<void(size_t)>& work) {
  {
    const std::scoped_lock lock(mutex_);
    work_ = &work;
    count_ = count;
    next_ = 0;
    busy_ = threads_.size();
    error_ = nullptr;
    ++round_;
  }
  wake_.notify_all();
  take_indices();
  std::unique_lock lock(mutex_);
  done_.wait(lock, [&] { return busy_ == 0; });
  if (error_) std::rethrow_exception(error_);
}

}  // namespace pax::data
