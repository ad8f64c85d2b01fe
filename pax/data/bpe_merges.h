#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace pax::data {

/// Byte-pair merges over ids. Safe to use from several threads.
class BpeMerges {
 public:
  /// `byte_ids`: the id of each byte; `left` and `right` merge to `merged`, earlier merges first.
  struct Merge {
    int32_t left, right, merged;
  };
  BpeMerges() = default;
  BpeMerges(std::vector<int32_t> byte_ids, const std::vector<Merge>& merges);

  /// Appends the ids of a word, whatever its length, in time that grows as n log n.
  void encode(std::string_view word, std::vector<int32_t>& ids) const;

 private:
  struct Ranked {
    int32_t rank, merged;
  };
  const Ranked* find(int32_t left, int32_t right) const;
  void encode_short(std::string_view word, std::vector<int32_t>& ids) const;
  void encode_long(std::string_view word, std::vector<int32_t>& ids) const;

  std::vector<int32_t> byte_ids_;
  std::unordered_map<uint64_t, Ranked> ranks_;
};

}  // namespace pax::data
