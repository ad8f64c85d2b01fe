#include "pax/data/bpe_merges.h"

#include <array>
#include <limits>
#include <queue>

namespace pax::data {
namespace {

constexpr size_t kShort = 64;
constexpr int32_t kNone = std::numeric_limits<int32_t>::max();

uint64_t pair_key(int32_t left, int32_t right) {
  return static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32 | static_cast<uint32_t>(right);
}

}  // namespace

BpeMerges::BpeMerges(const std::vector<Merge>& merges) {
  ranks_.reserve(merges.size() * 2);
  int32_t rank = 0;
  for (const Merge& merge : merges) {
    ranks_.insert_or_assign(pair_key(merge.left, merge.right), Ranked{rank++, merge.merged});
  }
}

const BpeMerges::Ranked* BpeMerges::find(int32_t left, int32_t right) const {
  const auto found = ranks_.find(pair_key(left, right));
  return found == ranks_.end() ? nullptr : &found->second;
}

void BpeMerges::merge_last(size_t count, std::vector<int32_t>& ids) const {
  const std::span<int32_t> symbols = std::span(ids).last(count);
  const size_t left = count <= kShort ? merge_few(symbols) : merge_many(symbols);
  ids.resize(ids.size() - count + left);
}

size_t BpeMerges::merge_few(std::span<int32_t> symbols) const {
  std::array<Ranked, kShort> merges;  // of symbol i with the next
  size_t count = symbols.size();
  const auto look = [&](size_t i) {
    const Ranked* found = i + 1 < count ? find(symbols[i], symbols[i + 1]) : nullptr;
    merges[i] = found != nullptr ? *found : Ranked{kNone, 0};
  };
  for (size_t i = 0; i < count; ++i) look(i);
  while (count > 1) {
    size_t best = 0;
    for (size_t i = 1; i + 1 < count; ++i) {
      if (merges[i].rank < merges[best].rank) best = i;
    }
    if (merges[best].rank == kNone) break;
    symbols[best] = merges[best].merged;
    --count;
    for (size_t i = best + 1; i < count; ++i) {
      symbols[i] = symbols[i + 1];
      merges[i] = merges[i + 1];
    }
    look(best);
    if (best > 0) look(best - 1);
  }
  return count;
}

size_t BpeMerges::merge_many(std::span<int32_t> ids) const {
  struct Symbol {
    int32_t id;
    int64_t before, after;
  };
  struct Candidate {
    int32_t rank;
    int64_t at;
    int32_t left, right, merged;
    bool operator>(const Candidate& other) const { return rank != other.rank ? rank > other.rank : at > other.at; }
  };
  const auto count = static_cast<int64_t>(ids.size());
  std::vector<Symbol> symbols(ids.size());
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> queue;
  const auto offer = [&](int64_t at) {
    if (at < 0 || symbols[static_cast<size_t>(at)].after >= count) return;
    const int32_t left = symbols[static_cast<size_t>(at)].id;
    const int32_t right = symbols[static_cast<size_t>(symbols[static_cast<size_t>(at)].after)].id;
    if (const Ranked* found = find(left, right)) queue.push({found->rank, at, left, right, found->merged});
  };
  for (int64_t i = 0; i < count; ++i) {
    symbols[static_cast<size_t>(i)] = {ids[static_cast<size_t>(i)], i - 1, i + 1};
  }
  for (int64_t i = 0; i + 1 < count; ++i) offer(i);
  while (!queue.empty()) {
    const Candidate best = queue.top();
    queue.pop();
    Symbol& left = symbols[static_cast<size_t>(best.at)];
    if (left.id != best.left || left.after >= count) continue;
    Symbol& right = symbols[static_cast<size_t>(left.after)];
    if (right.id != best.right) continue;
    left.id = best.merged;
    right.id = -1;
    left.after = right.after;
    if (left.after < count) symbols[static_cast<size_t>(left.after)].before = best.at;
    offer(left.before);
    offer(best.at);
  }
  size_t kept = 0;
  for (int64_t i = 0; i < count; i = symbols[static_cast<size_t>(i)].after) {
    ids[kept++] = symbols[static_cast<size_t>(i)].id;
  }
  return kept;
}

}  // namespace pax::data
