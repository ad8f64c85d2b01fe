#include "pax/metrics/weighted_mean.h"

#include <limits>

namespace pax {

void WeightedMean::add(WeightedScalar pair) {
  if (pair.weight == 0) return;
  weighted_sum_ += pair.value * pair.weight;
  weight_ += pair.weight;
}

WeightedScalar WeightedMean::result() const {
  if (weight_ == 0) return {.value = std::numeric_limits<double>::quiet_NaN(), .weight = 0};
  return {.value = weighted_sum_ / weight_, .weight = weight_};
}

void WeightedMeans::add(const Tree<WeightedScalar>& metrics) {
  for (const auto& [name, pair] : metrics) means_[name].add(pair);
}

Tree<WeightedScalar> WeightedMeans::result() const {
  Tree<WeightedScalar> results;
  for (const auto& [name, mean] : means_) results.emplace(name, mean.result());
  return results;
}

}  // namespace pax
