#include "pax/data/token_blocks.h"

#include <algorithm>

namespace pax::data {

void TokenBlocks::add(std::unique_ptr<TokenStream> stream) {
  first_.push_back(first_.back() + (stream->size() + seq_len_ - 1) / seq_len_);
  streams_.push_back(std::move(stream));
}

void TokenBlocks::append_to(LmBatch& batch, int64_t row, int64_t block) const {
  const auto after = std::upper_bound(first_.begin(), first_.end(), block);
  const auto number = static_cast<size_t>(after - first_.begin()) - 1;
  const TokenStream& stream = *streams_[number];
  const int64_t start = (block - first_[number]) * seq_len_;
  const auto length = static_cast<size_t>(std::min(seq_len_, stream.size() - start));
  const size_t lead = start == 0 ? 0 : 1;
  std::vector<int32_t> ids(length + 1);
  ids[0] = begin_;
  stream.copy(start - static_cast<int64_t>(lead), std::span(ids).subspan(1 - lead));
  const std::vector<float> ones(length, 1.0F);
  batch.append(row, std::span(ids).first(length), std::span(ids).subspan(1), ones);
}

}  // namespace pax::data
