#include "pax/layers/positions.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/layers/matchers.h"
#include "tests/layers/testing.h"

namespace pax {
namespace {

template <class L>
typename L::Config with_dims(int64_t dims) {
  typename L::Config config;
  config.embedding_dims = dims;
  return config;
}

TEST(PositionalEmbedding, PutsAllSinesBeforeAllCosines) {
  TracedLayer traced;
  const auto layer = traced.build(Tpl<BasePositionalEmbedding>(with_dims<PositionalEmbedding>(4)));
  const HostArray y = run(traced, layer->embed(2, {}), {});
  EXPECT_THAT(y, near({0, 0, 1, 1, std::sin(1), std::sin(1e-4), std::cos(1), std::cos(1e-4)}));
}

TEST(PositionalEmbedding, NeedsALengthOrPositions) {
  TracedLayer traced;
  const auto layer = traced.build(Tpl<BasePositionalEmbedding>(with_dims<PositionalEmbedding>(4)));
  EXPECT_THAT([&] { layer->embed({}, {}); }, throws<ShapeError>("layer", "length", "positions"));
}

TEST(TrainablePositionalEmbedding, ReadsOneRowAPosition) {
  TrainablePositionalEmbedding::Config config = with_dims<TrainablePositionalEmbedding>(1);
  config.max_seq_length = 3;
  config.lookup_style = LookupStyle::kIndex;
  TracedLayer traced;
  const auto layer = traced.build(Tpl<BasePositionalEmbedding>(config));
  const Tensor y = layer->embed({}, traced.input("p", {DType::kS32, {1, 3}}));
  EXPECT_THAT(run(traced, y, {{"p", s32({2, 0, 0}, {1, 3})}, {"params/layer/emb_var", f32({5, 6, 7}, {3, 1})}}),
              near({7, 5, 5}));
}

TEST(TrainablePositionalEmbedding, RefusesSequencesLongerThanItsTable) {
  TrainablePositionalEmbedding::Config config = with_dims<TrainablePositionalEmbedding>(4);
  config.max_seq_length = 9;
  TracedLayer traced;
  const auto layer = traced.build(Tpl<BasePositionalEmbedding>(config));
  EXPECT_THAT([&] { layer->embed(12, {}); }, throws<ShapeError>("layer", "12 positions", "table 9", "max_seq_length"));
}

TEST(PositionalEmbedding2D, CentersRowsAndColumns) {
  PositionalEmbedding2D::Config config = with_dims<PositionalEmbedding2D>(4);
  config.h = 2;
  config.w = 1;
  config.num_prepend_cls_tokens = 1;
  TracedLayer traced;
  const auto layer = traced.build(Tpl<BasePositionalEmbedding>(config));
  EXPECT_THAT(run(traced, layer->embed({}, {}), {}), near({0, 0, 0, 0, std::sin(-1), std::cos(-1), std::sin(-0.5),
                                                           std::cos(-0.5), 0, 1, std::sin(-0.5), std::cos(-0.5)}));
}

TEST(RotaryPositionalEmbedding, TurnsEachHalfIntoTheOther) {
  TracedLayer traced;
  const auto layer = traced.build(Tpl<RotaryPositionalEmbedding>(with_dims<RotaryPositionalEmbedding>(2)));
  const Tensor y = layer->fprop(traced.input("x", {DType::kF32, {1, 2, 2}}), {});
  EXPECT_THAT(run(traced, y, {{"x", f32({1, 0, 1, 0}, {1, 2, 2})}}), near({1, 0, std::cos(1), std::sin(1)}));
}

TEST(RotaryPositionalEmbedding, AStepIsTurnedAsInTheWholeSequence) {
  TracedLayer traced;
  const auto layer = traced.build(Tpl<RotaryPositionalEmbedding>(with_dims<RotaryPositionalEmbedding>(2)));
  const Tensor y =
      layer->extend_step(traced.input("x", {DType::kF32, {1, 1, 2}}), traced.input("t", {DType::kS32, {}}));
  EXPECT_THAT(run(traced, y, {{"x", f32({1, 0}, {1, 1, 2})}, {"t", s32({3}, {})}}), near({std::cos(3), std::sin(3)}));
}

TEST(RotaryPositionalEmbedding, NamesBothSizesWhenHeadsDoNotFit) {
  TracedLayer traced;
  const auto layer = traced.build(Tpl<RotaryPositionalEmbedding>(with_dims<RotaryPositionalEmbedding>(6)));
  EXPECT_THAT(
      [&] {
        layer->fprop(traced.input("x", {DType::kF32, {1, 2, 4}}), {});
      },
      throws<ShapeError>("layer", "embedding_dims is 6", "f32[1,2,4]"));
}

TEST(RotaryPositionalEmbedding, RefusesOddSizes) {
  EXPECT_THAT([] { TracedLayer().build(Tpl<RotaryPositionalEmbedding>(with_dims<RotaryPositionalEmbedding>(5))); },
              throws<ConfigError>("layer", "embedding_dims is 5", "even"));
}

}  // namespace
}  // namespace pax
