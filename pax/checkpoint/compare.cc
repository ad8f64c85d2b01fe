#include "pax/checkpoint/compare.h"

#include <algorithm>
#include <cmath>

#include "pax/base/error.h"

namespace pax {
namespace {

/// Nothing when the two are equal to the bit.
std::optional<ArrayDifference> compare_arrays(const std::string& name, const HostArray& left, const HostArray& right) {
  if (left.type() == right.type() && std::ranges::equal(left.bytes(), right.bytes())) return std::nullopt;
  ArrayDifference difference{.name = name, .left = left.type(), .right = right.type()};
  if (left.shape() != right.shape()) return difference;
  const std::vector<double> a = left.to_doubles();
  const std::vector<double> b = right.to_doubles();
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
    ++difference.different_elements;
    const double gap = std::fabs(a[i] - b[i]);
    if (!(gap <= difference.max_difference)) difference.max_difference = gap;
  }
  return difference;
}

}  // namespace

std::vector<ArrayDifference> compare(const CheckpointReader& left, const CheckpointReader& right) {
  std::vector<ArrayDifference> differences;
  for (const auto& [name, type] : left.types()) {
    if (!right.types().contains(name)) {
      differences.push_back({.name = name, .left = type});
    } else if (auto difference = compare_arrays(name, left.read(name), right.read(name))) {
      differences.push_back(std::move(*difference));
    }
  }
  for (const auto& [name, type] : right.types()) {
    if (!left.types().contains(name)) differences.push_back({.name = name, .right = type});
  }
  std::sort(differences.begin(), differences.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return differences;
}

double norm(const HostArray& array) {
  double sum = 0;
  for (const double value : array.to_doubles()) sum += value * value;
  return std::sqrt(sum);
}

Checkpoint average(std::span<const std::filesystem::path> checkpoints) {
  if (checkpoints.empty()) fail<RuntimeError>("average: no checkpoint was given");
  std::vector<CheckpointReader> readers;
  for (const auto& path : checkpoints) readers.emplace_back(path);
  const CheckpointReader& last = readers.back();
  for (const CheckpointReader& reader : readers) {
    require_same_types(reader.path().string(), reader.types(), last.types(), "average checkpoints of one model");
  }
  Checkpoint result{.step = last.step(), .items = last.items()};
  for (const auto& [name, type] : last.types()) {
    if (!is_floating(type.dtype)) {
      result.state.emplace(name, last.read(name));
      continue;
    }
    std::vector<double> sum(static_cast<size_t>(type.shape.num_elements()));
    for (const CheckpointReader& reader : readers) {
      const std::vector<double> values = reader.read(name).to_doubles();
      for (size_t i = 0; i < sum.size(); ++i) sum[i] += values[i];
    }
    for (double& value : sum) value /= static_cast<double>(readers.size());
    result.state.emplace(name, from_doubles(sum, type));
  }
  return result;
}

}  // namespace pax
