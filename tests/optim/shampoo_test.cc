#include "pax/optim/shampoo.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "pax/optim/inverse_root.h"
#include "tests/optim/training.h"

namespace pax {
namespace {

/// [batch, n, n] times its like, batch by batch.
std::vector<double> times(const std::vector<double>& a, const std::vector<double>& b, size_t n) {
  std::vector<double> out(a.size());
  for (size_t at = 0; at < a.size(); at += n * n) {
    for (size_t i = 0; i < n; ++i) {
      for (size_t j = 0; j < n; ++j) {
        for (size_t k = 0; k < n; ++k) out[at + i * n + j] += a[at + i * n + k] * b[at + k * n + j];
      }
    }
  }
  return out;
}

/// x x^T of random x: two symmetric positive matrices of 3 by 3.
std::vector<double> positive_matrices() {
  const std::vector<double> x = random_array({DType::kF64, {2, 3, 3}}, -1, 1, 5).to_doubles();
  std::vector<double> transposed(x.size());
  for (size_t at = 0; at < x.size(); at += 9) {
    for (size_t i = 0; i < 3; ++i) {
      for (size_t j = 0; j < 3; ++j) transposed[at + 3 * i + j] = x[at + 3 * j + i];
    }
  }
  std::vector<double> out = times(x, transposed, 3);
  for (size_t at = 0; at < out.size(); at += 9) {
    for (size_t i = 0; i < 3; ++i) out[at + 4 * i] += 0.1;
  }
  return out;
}

TEST(InverseRoot, ToThePowerGivesTheInverse) {
  const std::vector<double> matrix = positive_matrices();
  const std::vector<double> root =
      evaluate([](const std::vector<Tensor>& x) -> std::vector<Tensor> { return {inverse_root(x[0], 4, x[0])}; },
               {f32(matrix, {2, 3, 3})})[0]
          .to_doubles();
  const std::vector<double> square = times(root, root, 3);
  const std::vector<double> identity = times(times(square, square, 3), matrix, 3);
  for (size_t at = 0; at < identity.size(); at += 9) {
    for (size_t i = 0; i < 3; ++i) {
      for (size_t j = 0; j < 3; ++j) EXPECT_NEAR(identity[at + 3 * i + j], i == j ? 1 : 0, 1e-3);
    }
  }
}

TEST(DistributedShampoo, TakesTheStepLengthOfWhatIsGrafted) {
  DistributedShampoo::Config config;
  config.start_preconditioning_step = 0;
  config.preconditioning_compute_steps = 1;
  config.graft_type = 1;
  config.beta1 = 0;
  config.nesterov = false;
  config.best_effort_shape_interpretation = false;
  config.block_size = 2;
  Learner::Config learner_config;
  learner_config.optimizer = with_rate(config, 1);
  const Learner learner(learner_config);
  const HostArray grad = random_array({DType::kF32, {3, 4}}, -1, 1, 3);
  Training training(learner, {variable("w", {3, 4})}, {{"w", f32(std::vector<double>(12, 0.0), {3, 4})}});
  training.step({{"w", grad}});
  double step = 0, length = 0, along = 0;
  const std::vector<double> w = training.weight("w"), g = grad.to_doubles();
  for (size_t i = 0; i < w.size(); ++i) {
    step += w[i] * w[i];
    length += g[i] * g[i];
    along -= w[i] * g[i];
  }
  EXPECT_NEAR(std::sqrt(step), std::sqrt(length), 1e-4);
  EXPECT_GT(along, 0);
  EXPECT_LT(along, 0.999 * length);
}

TEST(DistributedShampoo, LeavesLargeVariablesToTheGraftedMethod) {
  DistributedShampoo::Config config;
  config.skip_preconditioning_dim_size_gt = 3;
  Learner::Config learner_config;
  learner_config.optimizer = with_rate(config, 1);
  EXPECT_EQ(Learner(learner_config).state_specs({variable("w", {3, 4})}).size(), 4u);
}

}  // namespace
}  // namespace pax
