#include "pax/data/row_stream.h"

namespace pax::data {

RowStream::RowStream(std::shared_ptr<const StreamShared> shared, int64_t index)
    : shared_(std::move(shared)), index_(index), packer_(shared_->row_lengths, shared_->packing, shared_->bins) {}

const IntRow* RowStream::peek() {
  if (prepared_) return &*prepared_;
  while (true) {
    const int64_t position = cursor_.record * shared_->num_streams + index_;
    const std::optional<int64_t> size = shared_->examples->size();
    if (size && position >= *size) return nullptr;
    if (made_of_ != cursor_.record) {
      made_.clear();
      shared_->examples->at(position, made_);
      made_of_ = cursor_.record;
    }
    if (cursor_.example < static_cast<int64_t>(made_.size())) break;
    ++cursor_.record;
    cursor_.example = 0;
  }
  prepared_ = shared_->converter->prepare(made_[static_cast<size_t>(cursor_.example)]);
  return &*prepared_;
}

void RowStream::build_generation() {
  start_ = cursor_;
  start_.row = 0;
  start_.in_window = packer_.in_window();
  while (const IntRow* example = peek()) {
    if (!packer_.add(*example)) break;
    prepared_.reset();
    ++cursor_.example;
  }
  for (IntRow& row : packer_.flush()) rows_.push_back(std::move(row));
}

std::optional<IntRow> RowStream::next() {
  if (rows_.empty()) build_generation();
  if (rows_.empty()) return std::nullopt;
  IntRow row = std::move(rows_.front());
  rows_.pop_front();
  ++start_.row;
  return row;
}

StreamPosition RowStream::position() const {
  if (!rows_.empty()) return start_;
  StreamPosition here = cursor_;
  here.row = 0;
  here.in_window = packer_.in_window();
  return here;
}

void RowStream::seek(const StreamPosition& position) {
  rows_.clear();
  prepared_.reset();
  made_of_ = -1;
  packer_.flush();
  packer_.set_in_window(position.in_window);
  cursor_ = position;
  if (position.row == 0) return;
  build_generation();
  for (int64_t i = 0; i < position.row && !rows_.empty(); ++i) {
    rows_.pop_front();
    ++start_.row;
  }
}

}  // namespace pax::data
