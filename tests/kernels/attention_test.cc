#include "pax/ops/attention.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pax/autodiff/grad.h"
#include "pax/ops/convert.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/reduce.h"
#include "tests/kernels/testing.h"

namespace pax {
namespace {

using ::testing::HasSubstr;

enum class Looks : uint8_t { kAnywhere, kBack, kInSegments, kAtRandom, kNowhere };

/// Where queries may look, as a mask [batch, 1, queries, keys].
HostArray mask_of(Looks looks, const Shape& shape) {
  std::mt19937_64 generator(7);
  std::vector<double> values;
  for (int64_t b = 0; b < shape[0]; ++b) {
    for (int64_t t = 0; t < shape[2]; ++t) {
      for (int64_t s = 0; s < shape[3]; ++s) {
        const bool seen = looks == Looks::kAnywhere || (looks == Looks::kBack && s <= t) ||
                          (looks == Looks::kInSegments && s <= t && s / 40 == t / 40) ||
                          // Some rows see nothing at all.
                          (looks == Looks::kAtRandom && t % 7 != 3 && generator() % 3 == 0);
        values.push_back(seen ? 0 : -0.7 * max_finite(DType::kF32));
      }
    }
  }
  return from_doubles(values, {DType::kF32, shape});
}

struct Case {
  std::string name;
  Looks looks = Looks::kBack;
  Shape query{2, 150, 3, 20}, key{2, 150, 3, 20};
  Shape mask{2, 1, 150, 150};
  DType dtype = DType::kF32;
  double cap = 0;
  double tolerance = 2e-6;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class AttentionKernel : public ::testing::TestWithParam<Case> {};

TEST_P(AttentionKernel, AndItsGradientsEqualTheirStablehloForm) {
  const Case& c = GetParam();
  const std::vector<HostArray> inputs{normal({c.dtype, c.query}, 1), normal({c.dtype, c.key}, 2),
                                      normal({c.dtype, c.key}, 3), mask_of(c.looks, c.mask),
                                      normal({c.dtype, c.query}, 4)};
  const Function function = [&](const std::vector<Tensor>& in) {
    const Tensor out = attention(in[0], in[1], in[2], in[3], {.logit_cap = c.cap});
    std::vector<Tensor> results{out};
    const Tensor loss = reduce_sum(convert(out * in[4], DType::kF32));
    for (const Tensor& gradient : grad(loss, {in[0], in[1], in[2]})) results.push_back(gradient);
    return results;
  };
  const Compiled ours = run_for(all_kernels(), function, inputs), plain = run_for({}, function, inputs);
  EXPECT_THAT(ours.text, HasSubstr("pax_attention_grad"));
  for (size_t i = 0; i < ours.results.size(); ++i) {
    EXPECT_LT(difference(ours.results[i], plain.results[i]), c.tolerance) << "result " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Cases, AttentionKernel,
    ::testing::Values(
        Case{.name = "causal"}, Case{.name = "anywhere", .looks = Looks::kAnywhere},
        Case{.name = "segments", .looks = Looks::kInSegments},
        Case{.name = "rows that see nothing", .looks = Looks::kAtRandom},
        Case{.name = "nothing to see", .looks = Looks::kNowhere},
        Case{.name = "capped", .looks = Looks::kAtRandom, .cap = 1.5},
        Case{.name = "one mask for all", .mask = {1, 1, 150, 150}},
        Case{.name = "one mask for all queries", .looks = Looks::kAtRandom, .mask = {2, 1, 1, 150}},
        Case{.name = "one query", .query = {2, 1, 3, 20}, .mask = {2, 1, 1, 150}},
        Case{.name = "other source", .looks = Looks::kAtRandom, .query = {2, 33, 3, 20}, .mask = {2, 1, 33, 150}},
        Case{.name = "bf16", .dtype = DType::kBF16, .tolerance = 2e-2},
        Case{.name = "bf16 capped", .dtype = DType::kBF16, .cap = 2, .tolerance = 2e-2}));

}  // namespace
}  // namespace pax
