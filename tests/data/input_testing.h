#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "pax/base/files.h"
#include "pax/data/input.h"

namespace pax::data {

/// A file of a temporary folder.
inline std::string put(const TempDirectory& folder, const std::string& name, std::string_view contents) {
  const std::filesystem::path path = folder.path() / name;
  write_file_atomically(path, contents);
  return path.string();
}

/// All bytes of both batches are equal.
inline bool equal(const HostTree& a, const HostTree& b) {
  if (a.size() != b.size()) return false;
  for (const auto& [name, array] : a) {
    const auto other = b.find(name);
    if (other == b.end() || other->second.type() != array.type()) return false;
    if (!std::ranges::equal(array.bytes(), other->second.bytes())) return false;
  }
  return true;
}

/// Every batch to the end, at most `limit`.
inline std::vector<HostTree> take_all(Input& input, size_t limit = 1000) {
  std::vector<HostTree> batches;
  while (batches.size() < limit) {
    std::optional<HostTree> batch = input.next();
    if (!batch) break;
    batches.push_back(std::move(*batch));
  }
  return batches;
}

/// The labels that carry weight, in order.
inline std::vector<int32_t> weighted_labels(const HostTree& batch) {
  std::vector<int32_t> labels;
  const auto all = batch.at("labels").values<int32_t>();
  const auto weights = batch.at("weights").values<float>();
  for (size_t i = 0; i < all.size(); ++i) {
    if (weights[i] != 0) labels.push_back(all[i]);
  }
  return labels;
}

}  // namespace pax::data
