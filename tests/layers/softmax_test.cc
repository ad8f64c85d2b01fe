#include <gtest/gtest.h>

#include <cmath>

#include "pax/layers/embedding.h"
#include "pax/layers/softmax/full_softmax.h"
#include "pax/layers/softmax/gshard_softmax.h"
#include "pax/layers/softmax/sigmoid_cross_entropy.h"
#include "tests/layers/matchers.h"
#include "tests/layers/testing.h"

namespace pax {
namespace {

template <class L>
typename L::Config sized(int64_t dims, int64_t classes) {
  typename L::Config config;
  config.input_dims = dims;
  config.num_classes = classes;
  return config;
}

/// A softmax layer over two classes whose logits are its input: scores of [B, T] labels.
struct Scored {
  TracedLayer traced;
  std::shared_ptr<Softmax> layer;
  SoftmaxOutput out;
  HostTree values;

  template <class C>
  explicit Scored(C config, ModelTrace::Mode mode = ModelTrace::Mode::kTrain) : traced(mode) {
    config.feed_forward_tpl = nullptr;
    layer = traced.build(Tpl<Softmax>(config));
    out = layer->fprop({.inputs = traced.input("x", {DType::kF32, {1, 2, 2}}),
                        .class_weights = traced.input("w", {DType::kF32, {1, 2, 1}}),
                        .class_ids = traced.input("ids", {DType::kS32, {1, 2, 1}})});
    // Probabilities 3/4, 1/4 and 1/2, 1/2; both labels are class 0; the second position weighs nothing.
    values = {
        {"x", f32({1.0986123F, 0, 0, 0}, {1, 2, 2})}, {"w", f32({1, 0}, {1, 2, 1})}, {"ids", s32({0, 0}, {1, 2, 1})}};
  }
};

TEST(FullSoftmax, AveragesCrossEntropyOverTheWeights) {
  Scored scored(sized<FullSoftmax>(2, 2));
  EXPECT_THAT(run(scored.traced, scored.out.avg_xent, scored.values), near({-std::log(0.75)}));
}

TEST(FullSoftmax, CountsRightClassesByWeight) {
  Scored scored(sized<FullSoftmax>(2, 2));
  EXPECT_THAT(run(scored.traced, scored.out.accuracy, scored.values), near({1}));
}

TEST(FullSoftmax, SmoothingGivesItsShareToTheOtherClasses) {
  FullSoftmax::Config config = sized<FullSoftmax>(2, 2);
  config.label_smoothing_prob = 0.2;
  Scored scored(config);
  EXPECT_THAT(run(scored.traced, scored.out.per_example_xent, scored.values),
              near({-0.8 * std::log(0.75) - 0.2 * std::log(0.25), -std::log(0.5)}));
}

TEST(FullSoftmax, ZLossIsAnAuxiliaryLoss) {
  FullSoftmax::Config config = sized<FullSoftmax>(2, 2);
  config.z_loss_weight = 0.5;
  Scored scored(config);
  const SideResults sides = take_side_results(scored.traced.graph);
  ASSERT_EQ(sides.aux_losses.size(), 1U);
  EXPECT_EQ(sides.aux_losses[0].path, "layer/aux_z_loss");
  EXPECT_THAT(run(scored.traced, sides.aux_losses[0].value, scored.values), near({0.5 * std::pow(std::log(4), 2)}));
}

TEST(FullSoftmax, NeedsLabels) {
  TracedLayer traced;
  const auto layer = traced.build(Tpl<Softmax>(sized<FullSoftmax>(2, 2)));
  EXPECT_THAT(
      [&] {
        layer->fprop(SoftmaxInputs{.inputs = traced.input("x", {DType::kF32, {1, 2}})});
      },
      throws<ShapeError>("layer", "class_ids", "class_probabilities"));
}

TEST(FullSoftmax, HasNoTableToLookUp) {
  TracedLayer traced;
  const auto layer = traced.build(Tpl<Softmax>(sized<FullSoftmax>(2, 2)));
  EXPECT_THAT(
      [&] {
        layer->emb_lookup(traced.input("ids", {DType::kS32, {1}}));
      },
      throws<ShapeError>("layer", "table"));
}

TEST(SharedEmbeddingSoftmax, EmbedsByTheColumnsOfItsMatrix) {
  SharedEmbeddingSoftmax::Config config = sized<SharedEmbeddingSoftmax>(4, 2);
  config.scale_sqrt_depth = true;
  TracedLayer traced;
  const auto layer = traced.build(Tpl<Softmax>(config));
  const Tensor y = layer->emb_lookup(traced.input("ids", {DType::kS32, {1}}));
  EXPECT_THAT(run(traced, y,
                  {{"ids", s32({1}, {1})},
                   {"params/layer/logits_ffn/linear/w", f32({1, 2, 3, 4, 5, 6, 7, 8}, {4, 2})},
                   {"params/layer/logits_ffn/bias/b", f32({0, 0}, {2})}}),
              near({4, 8, 12, 16}));
}

TEST(NClassMajorSharedEmbeddingSoftmax, SwapsTheSplitOfItsTable) {
  auto config = sized<NClassMajorSharedEmbeddingSoftmax>(4, 2);
  config.weight_split_dims_mapping["wt"] = std::vector<DimSplit>{"data", "mdl"};
  TracedLayer traced;
  traced.build(Tpl<Softmax>(config));
  EXPECT_EQ(traced.trace.find("params/layer/w")->spec.split,
            (std::vector<std::vector<std::string>>{{"mdl"}, {"data"}}));
}

TEST(GShardSharedEmbeddingSoftmax, ScalesItsInputByTheRootOfTheDepth) {
  TracedLayer traced;
  const auto layer = traced.build(Tpl<Softmax>(sized<GShardSharedEmbeddingSoftmax>(4, 2)));
  const Tensor y = layer->get_logits(traced.input("x", {DType::kF32, {1, 1, 4}}));
  EXPECT_THAT(
      run(traced, y,
          {{"x", f32({1, 1, 1, 1}, {1, 1, 4})}, {"params/layer/embedding/w", f32({1, 1, 1, 1, 2, 2, 2, 2}, {2, 4})}}),
      near({2, 4}));
}

TEST(GShardSharedEmbeddingSoftmax, CutsLogitsOff) {
  GShardSharedEmbeddingSoftmax::Config config = sized<GShardSharedEmbeddingSoftmax>(1, 2);
  config.logits_abs_max = 3;
  TracedLayer traced;
  const auto layer = traced.build(Tpl<Softmax>(config));
  const Tensor y = layer->get_logits(traced.input("x", {DType::kF32, {1, 1, 1}}));
  EXPECT_THAT(run(traced, y, {{"x", f32({4}, {1, 1, 1})}, {"params/layer/embedding/w", f32({1, -2}, {2, 1})}}),
              near({3, -3}));
}

TEST(SigmoidCrossEntropy, AddsUpTheClasses) {
  Scored scored(sized<SigmoidCrossEntropy>(2, 2));
  EXPECT_THAT(run(scored.traced, scored.out.per_example_xent, scored.values),
              near({-std::log(0.75) - std::log(0.5), -2 * std::log(0.5)}));
}

TEST(SigmoidCrossEntropy, RefusesWeightsOfAnotherWidth) {
  TracedLayer traced;
  const auto layer = traced.build(Tpl<Softmax>(sized<SigmoidCrossEntropy>(2, 4)));
  EXPECT_THAT(
      [&] {
        layer->fprop(SoftmaxInputs{.inputs = traced.input("x", {DType::kF32, {1, 2}}),
                                   .class_weights = traced.input("w", {DType::kF32, {1, 3}}),
                                   .class_ids = traced.input("ids", {DType::kS32, {1, 1}})});
      },
      throws<ShapeError>("layer", "f32[1,3]", "num_classes = 4"));
}

TEST(Embedding, IdsOutOfRangeReadZerosByProductAndNaNWhenAsked) {
  Embedding::Config config = sized<Embedding>(1, 2);
  config.lookup_style = LookupStyle::kMatmul;
  const HostTree table{{"emb_var", f32({3, 4}, {2, 1})}};
  EXPECT_THAT(forward(config, table, s32({1, 2}, {2})), near({4, 0}));
  config.set_nan_for_oob_id = true;
  EXPECT_TRUE(std::isnan(forward(config, table, s32({1, 2}, {2})).to_doubles()[1]));
}

TEST(Embedding, RefusesAnEmptyTable) {
  EXPECT_THAT([] { TracedLayer().build(Tpl<Layer>(sized<Embedding>(4, 0))); },
              throws<ConfigError>("layer", "num_classes is 0", "input_dims is 4"));
}

}  // namespace
}  // namespace pax
