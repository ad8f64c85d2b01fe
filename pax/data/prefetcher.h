#pragma once

#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "pax/base/queue.h"
#include "pax/data/input.h"

namespace pax::data {

/// Makes batches ahead on its own thread. `next` gives exactly what the input would; errors of the input are thrown by
/// `next` in place of the batch. While a Prefetcher lives nobody else may use the input.
class Prefetcher {
 public:
  /// Holds at most `depth` batches ready. Batches are those of `Input::next_padded`.
  explicit Prefetcher(std::shared_ptr<Input> input, size_t depth = 2);
  ~Prefetcher();
  Prefetcher(const Prefetcher&) = delete;
  Prefetcher& operator=(const Prefetcher&) = delete;

  /// The next batch, or nothing at the end (again and again).
  std::optional<HostTree> next();

  /// The input's position after the last batch that `next` returned.
  const std::string& state() const { return state_; }

  void reset();
  void restore(std::span<const std::string> states);

  /// Time that `next` stood waiting for the input since the start, without the first batch.
  std::chrono::duration<double> waited() const { return waited_; }

 private:
  struct Item {
    std::optional<HostTree> batch;
    std::string state;
    std::exception_ptr error;
  };
  void start();
  void stop();
  void run(BoundedQueue<Item>& queue);

  std::shared_ptr<Input> input_;
  size_t depth_;
  std::unique_ptr<BoundedQueue<Item>> queue_;
  std::thread thread_;
  std::string state_;
  std::exception_ptr failed_;
  bool ended_ = false;
  bool first_ = true;
  std::chrono::duration<double> waited_{0};
};

}  // namespace pax::data
