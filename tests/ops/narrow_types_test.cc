// Types of fewer bits than training computes in: as far as the plugins take them.

#include <gmock/gmock.h>

#include "pax/ops/convert.h"
#include "pax/ops/dot.h"
#include "pax/ops/elementwise.h"
#include "tests/ops/testing.h"

namespace pax {
namespace {

using ::testing::ElementsAre;
using Tensors = std::vector<Tensor>;

/// [[1,2],[3,4]] times [[1],[1]] in `dtype`, accumulated in `sum`.
std::vector<double> product(DType dtype, DType sum) {
  const auto f = [&](const Tensors& x) {
    const DotOptions options{.preferred = sum};
    return Tensors{convert(matmul(convert(x[0], dtype), convert(x[1], dtype), options), DType::kF64)};
  };
  return evaluate(f, {f32({1, 2, 3, 4}, {2, 2}), f32({1, 1}, {2, 1})})[0].to_doubles();
}

TEST(NarrowTypes, MultiplyWithAWideSum) {
  EXPECT_THAT(product(DType::kS8, DType::kS32), ElementsAre(3, 7));
  EXPECT_THAT(product(DType::kF8E4M3FN, DType::kF32), ElementsAre(3, 7));
  EXPECT_THAT(product(DType::kF8E5M2, DType::kF32), ElementsAre(3, 7));
  EXPECT_THAT(product(DType::kBF16, DType::kF32), ElementsAre(3, 7));
}

TEST(NarrowTypes, RoundAndSaturateAsTheirFormatsSay) {
  const auto through = [](DType dtype, std::vector<double> values) {
    const auto count = static_cast<int64_t>(values.size());
    const auto f = [&](const Tensors& x) { return Tensors{convert(convert(x[0], dtype), DType::kF64)}; };
    return evaluate(f, {f32(std::move(values), {count})})[0].to_doubles();
  };
  EXPECT_THAT(through(DType::kF8E4M3FN, {1.0625, 1.07, 448, -0.001953125}), ElementsAre(1, 1.125, 448, -0.001953125));
  EXPECT_THAT(through(DType::kF8E5M2, {1.125, 1.2, 57344}), ElementsAre(1, 1.25, 57344));
  EXPECT_THAT(through(DType::kS4, {-8, 7, 3.7}), ElementsAre(-8, 7, 3));
}

}  // namespace
}  // namespace pax
