#include "pax/interop/huggingface/rearrange.h"

#include <gmock/gmock.h>

#include "pax/base/error.h"

namespace pax::hf {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

HostArray counting(const Shape& shape) {
  std::vector<double> values;
  for (int64_t i = 0; i < shape.num_elements(); ++i) values.push_back(static_cast<double>(i));
  return from_doubles(values, {DType::kF32, shape});
}

TEST(Rearrange, Transposes) {
  const HostArray out = rearrange(counting({2, 3}), "a b -> b a", {});
  EXPECT_EQ(out.shape(), (Shape{3, 2}));
  EXPECT_THAT(out.to_doubles(), ElementsAre(0, 3, 1, 4, 2, 5));
}

TEST(Rearrange, SplitsADimensionIntoHeads) {
  const HostArray out = rearrange(counting({4, 2}), "(n h) d -> d n h", {{'n', 2}});
  EXPECT_EQ(out.shape(), (Shape{2, 2, 2}));
  EXPECT_THAT(out.to_doubles(), ElementsAre(0, 2, 4, 6, 1, 3, 5, 7));
}

TEST(Rearrange, JoinsDimensions) {
  const HostArray out = rearrange(counting({2, 2, 2}), "d n h -> (n h) d", {});
  EXPECT_EQ(out.shape(), (Shape{4, 2}));
  EXPECT_THAT(out.to_doubles(), ElementsAre(0, 4, 1, 5, 2, 6, 3, 7));
}

TEST(Rearrange, IsUndoneByItsInverse) {
  const std::string pattern = "d c p q -> (p q c) d";
  const Sizes sizes{{'c', 2}, {'p', 2}, {'q', 3}};
  const HostArray array = counting({4, 2, 2, 3});
  const HostArray back = rearrange(rearrange(array, pattern, sizes), inverse(pattern), sizes);
  EXPECT_EQ(back.shape(), array.shape());
  EXPECT_EQ(back.to_doubles(), array.to_doubles());
}

TEST(Rearrange, KeepsTwoByteElements) {
  const HostArray out = rearrange(counting({2, 2}).converted(DType::kBF16), "a b -> b a", {});
  EXPECT_EQ(out.dtype(), DType::kBF16);
  EXPECT_THAT(out.to_doubles(), ElementsAre(0, 2, 1, 3));
}

TEST(Rearrange, NamesPatternAndSizesThatDoNotFit) {
  try {
    rearrange(counting({5, 2}), "(n h) d -> d n h", {{'n', 2}});
    FAIL();
  } catch (const RuntimeError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("(n h) d"), HasSubstr("[5,2]"), HasSubstr("dimension 0")));
  }
}

}  // namespace
}  // namespace pax::hf
