#include "pax/interop/huggingface/weight_map.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "pax/base/error.h"
#include "pax/interop/huggingface/import.h"

namespace pax::hf {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class WeightMapTest : public ::testing::Test {
 protected:
  HostTree import() {
    Tree<TensorType> names;
    for (const auto& [name, array] : tensors_) names[name] = array.type();
    return import_weights(
        map_, types_, names, [&](std::string_view name) { return tensors_.find(name)->second; }, unused_);
  }
  std::string error() {
    try {
      import();
    } catch (const RuntimeError& error) {
      return error.what();
    }
    return "";
  }

  /// Queries and keys one after the other in one tensor, for two repeated layers.
  WeightMap map_{
      .rows = {{"l.0.qk",
                {{.variable = "q", .indices = {0}, .pattern = "n d -> d n", .axis = 0, .size = 2},
                 {.variable = "k", .indices = {0}, .pattern = "k d -> d k", .axis = 0, .start = 2, .size = 1}}},
               {"l.1.qk",
                {{.variable = "q", .indices = {1}, .pattern = "n d -> d n", .axis = 0, .size = 2},
                 {.variable = "k", .indices = {1}, .pattern = "k d -> d k", .axis = 0, .start = 2, .size = 1}}}},
      .sizes = {{'n', 2}, {'k', 1}},
      .prefix = "model.",
      .ignored = {".mask"}};
  Tree<TensorType> types_{{"q", {DType::kF32, {2, 2, 2}}}, {"k", {DType::kF32, {2, 2}}}};
  HostTree tensors_{{"l.0.qk", HostArray::of<float>({1, 2, 3, 4, 5, 6}, {3, 2})},
                    {"l.1.qk", HostArray::of<float>({7, 8, 9, 10, 11, 12}, {3, 2})}};
  std::vector<std::string> unused_;
};

TEST_F(WeightMapTest, PartsGoToTheirPlaces) {
  const HostTree variables = import();
  EXPECT_THAT(variables.at("q").to_doubles(), ElementsAre(1, 3, 2, 4, 7, 9, 8, 10));
  EXPECT_THAT(variables.at("k").to_doubles(), ElementsAre(5, 6, 11, 12));
}

TEST_F(WeightMapTest, ExportGivesTheTensorsBack) {
  const HostTree back = export_weights(map_, import());
  for (const auto& [name, array] : tensors_) EXPECT_EQ(back.at(name).to_doubles(), array.to_doubles()) << name;
}

TEST_F(WeightMapTest, MissingTensorsAreNamed) {
  tensors_.erase("l.1.qk");
  EXPECT_THAT(error(), AllOf(HasSubstr("1 of the model's 2 tensors"), HasSubstr("l.1.qk")));
}

TEST_F(WeightMapTest, ATensorOfAnotherShapeIsNamedWithBothShapes) {
  tensors_["l.1.qk"] = HostArray::of<float>({1, 2, 3}, {3, 1});
  EXPECT_THAT(error(), AllOf(HasSubstr("l.1.qk"), HasSubstr("f32[3,1]"), HasSubstr("[2,2]")));
}

TEST_F(WeightMapTest, WhatNoRowWantsIsListedUnlessItIsKnown) {
  tensors_["l.0.mask"] = HostArray::of<float>({1}, {1});
  tensors_["pooler"] = HostArray::of<float>({1}, {1});
  import();
  EXPECT_THAT(unused_, ElementsAre("pooler"));
}

TEST_F(WeightMapTest, ElementTypesAreConverted) {
  tensors_["l.0.qk"] = tensors_["l.0.qk"].converted(DType::kBF16);
  EXPECT_EQ(import().at("k").dtype(), DType::kF32);
}

TEST(MergeLora, AddsTheProductToTheWeight) {
  HostTree variables{{"p/w", HostArray::of<float>({1, 1, 1, 1}, {1, 2, 2})},
                     {"p/lora_a", HostArray::of<float>({1, 2}, {1, 2, 1})},
                     {"p/lora_b", HostArray::of<float>({3, 4}, {1, 2, 1})}};
  EXPECT_TRUE(merge_lora(variables));
  EXPECT_EQ(variables.size(), 1u);
  EXPECT_THAT(variables.at("p/w").to_doubles(), ElementsAre(4, 5, 7, 9));
}

}  // namespace
}  // namespace pax::hf
