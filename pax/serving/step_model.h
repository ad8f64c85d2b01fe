#pragma once

#include <map>
#include <memory>
#include <span>

#include "pax/task/decode_steps.h"
#include "pax/trainer/session.h"

namespace pax {

/// A model on the devices that reads and foretells token by token: its weights, a cache of several texts, and programs
/// that are compiled once: one for a step, one for each power of two of prompt lengths that occurs.
class StepModel {
 public:
  /// `variables`: the model's, by state name. The session must outlive this.
  StepModel(Session& session, DeviceTree variables, const CacheSize& size);

  int64_t rows() const { return size_.rows; }
  /// Tokens that a row can hold.
  int64_t length() const { return size_.length; }
  int64_t vocab_size() const { return vocab_size_; }
  uint64_t weight_bytes() const { return weight_bytes_; }
  uint64_t cache_bytes() const { return cache_bytes_; }

  /// Reads a prompt into `row`, in place of what was there. Throws ConfigError when it does not fit or an id is not in
  /// the vocabulary.
  void prefill(int64_t row, std::span<const int32_t> ids);

  /// Reads `ids[r]` at `positions[r]` of each row r and gives the logits of what follows: f32[rows, V]. A row without
  /// a text takes any id at position 0.
  HostArray step(std::span<const int32_t> ids, std::span<const int32_t> positions);

  /// Compiles what a prompt of `tokens` tokens needs, so that no request waits for it.
  void prepare(int64_t tokens);

 private:
  void add_parts_of_stacks();
  int64_t padded_length(int64_t tokens) const;
  const Program& prefill_program(int64_t padded);

  Session& session_;
  const CacheSize size_;
  DeviceTree state_;  ///< variables and cache
  std::map<int64_t, std::shared_ptr<const Program>> prefill_;
  std::shared_ptr<const Program> step_;
  int64_t vocab_size_ = 0;
  uint64_t weight_bytes_ = 0, cache_bytes_ = 0;
};

}  // namespace pax
