#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace pax::data {

/// Byte-pair merges over ids. Safe to use from several threads.
class BpeMerges {
 public:
  /// `left` and `right` merge to `merged`, earlier merges first.
  struct Merge {
    int32_t left, right, merged;
  };
  BpeMerges() = default;
  explicit BpeMerges(const std::vector<Merge>& merges);

  /// Merges the last `count` of `ids`, whatever their number, in time that grows as n log n.
  void merge_last(size_t count, std::vector<int32_t>& ids) const;

 private:
  struct Ranked {
    int32_t rank, merged;
  };
  const Ranked* find(int32_t left, int32_t right) const;
  /// Merge in place; the number of ids that are left.
  size_t merge_few(std::span<int32_t> symbols) const;
  size_t merge_many(std::span<int32_t> symbols) const;

  std::unordered_map<uint64_t, Ranked> ranks_;
};

}  // namespace pax::data
