#include "pax/data/prefetcher.h"

namespace pax::data {

Prefetcher::Prefetcher(std::shared_ptr<Input> input, size_t depth)
    : input_(std::move(input)), depth_(depth == 0 ? 1 : depth) {
  start();
}

Prefetcher::~Prefetcher() { stop(); }

void Prefetcher::start() {
  state_ = input_->save();
  queue_ = std::make_unique<BoundedQueue<Item>>(depth_);
  failed_ = nullptr;
  ended_ = false;
  first_ = true;
  thread_ = std::thread([this, queue = queue_.get()] { run(*queue); });
}

void Prefetcher::stop() {
  queue_->close();
  if (thread_.joinable()) thread_.join();
}

void Prefetcher::run(BoundedQueue<Item>& queue) {
  while (true) {
    Item item;
    try {
      item.batch = input_->next_padded();
      item.state = input_->save();
    } catch (...) {
      item.batch.reset();
      item.error = std::current_exception();
    }
    const bool last = !item.batch.has_value();
    if (!queue.push(std::move(item)) || last) return;
  }
}

std::optional<HostTree> Prefetcher::next() {
  if (failed_) std::rethrow_exception(failed_);
  if (ended_) return std::nullopt;
  const auto begin = std::chrono::steady_clock::now();
  std::optional<Item> item = queue_->pop();
  if (!first_) waited_ += std::chrono::steady_clock::now() - begin;
  first_ = false;
  if (item && item->error) {
    failed_ = item->error;
    std::rethrow_exception(failed_);
  }
  if (!item || !item->batch) {
    ended_ = true;
    return std::nullopt;
  }
  state_ = std::move(item->state);
  return std::move(item->batch);
}

void Prefetcher::reset() {
  stop();
  input_->reset();
  start();
}

void Prefetcher::restore(std::span<const std::string> states) {
  stop();
  input_->restore(states);
  start();
}

}  // namespace pax::data
