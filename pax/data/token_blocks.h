#pragma once

#include <memory>
#include <vector>

#include "pax/data/batch.h"
#include "pax/data/token_stream.h"

namespace pax::data {

/// Streams of ids cut into blocks of one length, numbered through all streams; the last block of a stream may be short.
class TokenBlocks {
 public:
  /// `begin`: the input before a stream's first label.
  TokenBlocks(int64_t seq_len, int32_t begin) : seq_len_(seq_len), begin_(begin) {}

  void add(std::unique_ptr<TokenStream> stream);
  int64_t size() const { return first_.back(); }
  int64_t seq_len() const { return seq_len_; }

  /// Puts a block into a row: its ids are the labels, the ids before them the inputs, all of weight one.
  void append_to(LmBatch& batch, int64_t row, int64_t block) const;

 private:
  int64_t seq_len_;
  int32_t begin_;
  std::vector<std::unique_ptr<TokenStream>> streams_;
  std::vector<int64_t> first_{0};  ///< block of each stream, and the total
};

}  // namespace pax::data
