#pragma once

#include "pax/array/tree.h"

namespace pax {

/// A value with the weight it carries in an average: loss and number of tokens, accuracy and number of examples.
struct WeightedScalar {
  double value = 0;
  double weight = 0;
  bool operator==(const WeightedScalar&) const = default;
};

/// Pax's average of (value, weight) pairs: sum(value * weight) / sum(weight), in float64. Pairs of weight zero
/// (padding) do not count, whatever their value; with no weight at all the value is NaN.
class WeightedMean {
 public:
  void add(WeightedScalar pair);
  /// The mean and the total weight.
  WeightedScalar result() const;

 private:
  double weighted_sum_ = 0;
  double weight_ = 0;
};

/// A WeightedMean for each name.
class WeightedMeans {
 public:
  void add(const Tree<WeightedScalar>& metrics);
  Tree<WeightedScalar> result() const;

 private:
  Tree<WeightedMean> means_;
};

}  // namespace pax
