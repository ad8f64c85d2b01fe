#include "pax/data/packing.h"

#include <algorithm>
#include <array>

#include "pax/base/error.h"

namespace pax::data {
namespace {

/// Ids of a feature that count: no more than its length, zeros at the end left out.
std::span<const int32_t> used(const IntRow& example, const std::string& name, int64_t length) {
  const auto found = example.find(name);
  if (found == example.end()) return {};
  std::span<const int32_t> ids(found->second);
  if (ids.size() > static_cast<size_t>(length)) ids = ids.first(static_cast<size_t>(length));
  while (!ids.empty() && ids.back() == 0) ids = ids.first(ids.size() - 1);
  return ids;
}

}  // namespace

std::span<const std::pair<Packing, std::string_view>> enum_names(Packing) {
  static constexpr std::array<std::pair<Packing, std::string_view>, 3> kNames{
      {{Packing::kNone, "none"}, {Packing::kNextFit, "next_fit"}, {Packing::kFirstFit, "first_fit"}}};
  return kNames;
}

Packer::Packer(FeatureLengths lengths, Packing packing, int64_t bins)
    : lengths_(std::move(lengths)),
      packing_(packing),
      max_bins_(packing == Packing::kFirstFit ? static_cast<size_t>(std::max<int64_t>(bins, 1)) : 1),
      window_(0) {
  for (const auto& [name, length] : lengths_) window_ = std::max(window_, length);
}

bool Packer::fits(const Bin& bin, const IntRow& example) const {
  return std::ranges::all_of(lengths_, [&](const auto& feature) {
    const auto& [name, length] = feature;
    const auto filled = bin.row.find(name);
    const size_t taken = filled == bin.row.end() ? 0 : filled->second.size();
    return taken + used(example, name, length).size() <= static_cast<size_t>(length);
  });
}

void Packer::append(Bin& bin, const IntRow& example) {
  ++bin.segments;
  for (const auto& [name, length] : lengths_) {
    const std::span<const int32_t> ids =
        packing_ == Packing::kNone && example.contains(name)
            ? std::span<const int32_t>(example.at(name))
                  .first(std::min(example.at(name).size(), static_cast<size_t>(length)))
            : used(example, name, length);
    std::vector<int32_t>& row = bin.row[name];
    row.insert(row.end(), ids.begin(), ids.end());
    if (packing_ == Packing::kNone) continue;
    std::vector<int32_t>& segments = bin.row[name + "_segment_ids"];
    segments.insert(segments.end(), ids.size(), bin.segments);
    std::vector<int32_t>& positions = bin.row[name + "_positions"];
    for (size_t i = 0; i < ids.size(); ++i) positions.push_back(static_cast<int32_t>(i));
  }
}

bool Packer::add(const IntRow& example) {
  if (closed_) return false;
  for (Bin& bin : bins_) {
    if (packing_ == Packing::kNone || !fits(bin, example)) continue;
    append(bin, example);
    if (packing_ == Packing::kNextFit && ++in_window_ == window_) closed_ = true;
    return true;
  }
  if (bins_.size() == max_bins_) return false;
  bins_.emplace_back();
  append(bins_.back(), example);
  if (packing_ == Packing::kNextFit && ++in_window_ == window_) closed_ = true;
  if (packing_ == Packing::kNone) closed_ = true;
  return true;
}

IntRow Packer::finish(Bin bin) const {
  for (const auto& [name, length] : lengths_) {
    const auto size = static_cast<size_t>(length);
    bin.row[name].resize(size);
    if (packing_ == Packing::kNone) continue;
    bin.row[name + "_segment_ids"].resize(size);
    bin.row[name + "_positions"].resize(size);
  }
  return std::move(bin.row);
}

std::vector<IntRow> Packer::flush() {
  std::vector<IntRow> rows;
  for (Bin& bin : bins_) rows.push_back(finish(std::move(bin)));
  bins_.clear();
  if (in_window_ >= window_) in_window_ = 0;
  closed_ = false;
  return rows;
}

}  // namespace pax::data
