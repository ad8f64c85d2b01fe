#include "pax/metrics/weighted_mean.h"

#include <gtest/gtest.h>

#include <cmath>

namespace pax {
namespace {

TEST(WeightedMean, WeighsEachBatchByItsTokens) {
  WeightedMean mean;
  mean.add({.value = 2.0, .weight = 30});
  mean.add({.value = 5.0, .weight = 10});
  EXPECT_EQ(mean.result(), (WeightedScalar{.value = 2.75, .weight = 40}));
}

TEST(WeightedMean, IgnoresWhatCarriesNoWeight) {
  WeightedMean mean;
  mean.add({.value = NAN, .weight = 0});
  EXPECT_TRUE(std::isnan(mean.result().value));
  mean.add({.value = 3.0, .weight = 1});
  EXPECT_EQ(mean.result(), (WeightedScalar{.value = 3.0, .weight = 1}));
}

TEST(WeightedMean, KeepsSmallTermsOverManyBatches) {
  WeightedMean mean;
  for (int i = 0; i < 1'000'000; ++i) mean.add({.value = 0.1, .weight = 1});
  EXPECT_NEAR(mean.result().value, 0.1, 1e-11);
}

TEST(WeightedMeans, AveragesEachNameByItself) {
  WeightedMeans means;
  means.add({{"loss", {1, 1}}, {"accuracy", {0.5, 4}}});
  means.add({{"loss", {3, 1}}});
  const Tree<WeightedScalar> result = means.result();
  EXPECT_EQ(result.at("loss"), (WeightedScalar{2, 2}));
  EXPECT_EQ(result.at("accuracy"), (WeightedScalar{0.5, 4}));
}

}  // namespace
}  // namespace pax
