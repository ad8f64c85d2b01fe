#include "pax/checkpoint/parallel.h"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace pax {

void parallel_for(size_t count, size_t threads, const std::function<void(size_t)>& work) {
  std::atomic<size_t> next = 0;
  std::mutex mutex;
  std::exception_ptr error;
  const auto run = [&] {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    for (size_t i = next++; i < count; i = next++) {
      try {
        work(i);
      } catch (...) {
        const std::scoped_lock lock(mutex);
        if (!error) error = std::current_exception();
        next = count;
      }
    }
  };
  std::vector<std::jthread> pool;
  for (size_t i = 0; i < std::min(count, threads); ++i) pool.emplace_back(run);
  pool.clear();
  if (error) std::rethrow_exception(error);
}

size_t io_threads() { return std::clamp<size_t>(2 * std::thread::hardware_concurrency(), 4, 16); }

}  // namespace pax
