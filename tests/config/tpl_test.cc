#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pax/base/error.h"
#include "pax/config/sharing.h"
#include "tests/config/things.h"

namespace pax {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;
using namespace things;

TEST(Required, ThrowsWhenReadBeforeItIsSet) {
  const Required<int64_t> dim;
  EXPECT_THROW(*dim, ConfigError);
  EXPECT_FALSE(dim.has_value());
}

TEST(Required, ConvertsFromAndToItsValue) {
  Required<int64_t> dim = 3;
  dim = 4;
  const int64_t plain = dim;
  EXPECT_EQ(plain, 4);
}

TEST(Tpl, BuildsTheProductOfWhateverClassItHolds) {
  Tpl<Layer> tpl = GELU::Config{};
  EXPECT_EQ(tpl.build(Scope{})->what(), "gelu");
  tpl = Linear::Config{.input_dims = 2, .output_dims = 3};
  EXPECT_EQ(tpl.build(Scope{"lm"})->what(), "lm:linear2x3");
}

TEST(Tpl, BuildsKindsThatNeedNoContext) {
  const Tpl<Schedule> tpl = LinearSchedule::Config{.slope = 3};
  EXPECT_EQ(tpl.build()->at(2), 6);
}

TEST(Tpl, RefusesToBuildNothing) {
  EXPECT_THAT([] { Tpl<Layer>().build(Scope{}); }, ThrowsMessage<ConfigError>(HasSubstr("empty template of a Layer")));
}

TEST(Tpl, OfAnInterfaceConvertsToItsParent) {
  const Tpl<Attention> attention = DotProductAttention::Config{};
  const Tpl<Layer> layer = attention;
  EXPECT_TRUE(layer.same_node(attention));
  EXPECT_EQ(layer.build(Scope{"a"})->what(), "attention(a/proj:linear8x0)");
}

TEST(Tpl, RefusesAClassThatDoesNotImplementTheInterface) {
  const Tpl<Layer> linear = Linear::Config{};
  EXPECT_THAT([&] { Tpl<Attention>::from(linear); },
              ThrowsMessage<ConfigError>("praxis.layers.Linear does not build a Attention"));
}

TEST(Tpl, AsGivesTheConfigOnlyOfItsClass) {
  Tpl<Layer> tpl = Linear::Config{};
  ASSERT_NE(tpl.as<Linear::Config>(), nullptr);
  EXPECT_EQ(tpl.as<ReLU::Config>(), nullptr);
  tpl.as<Linear::Config>()->output_dims = 9;
  EXPECT_EQ(tpl.get<int64_t>("output_dims"), 9);
}

TEST(Tpl, CopiesShareAndClonesDoNot) {
  Tpl<Layer> a = Linear::Config{};
  Tpl<Layer> b = a;
  Tpl<Layer> c = a.clone();
  b.set("output_dims", 5);
  EXPECT_EQ(a.get<int>("output_dims"), 5);
  EXPECT_EQ(c.get<int>("output_dims"), 0);
}

TEST(Tpl, CloneCopiesNestedTemplates) {
  const Tpl<Layer> a = busy_model();
  Tpl<Layer> b = a.clone();
  b.set("atten_tpl.proj_tpl.output_dims", 77);
  EXPECT_EQ(a.get<int64_t>("atten_tpl.proj_tpl.output_dims"), 0);
}

TEST(Tpl, CloneKeepsWhatIsSharedWithinIt) {
  Model::Config model;
  model.extra_tpl = model.activation_tpl;
  const Tpl<Layer> copy = Tpl<Layer>(model).clone();
  const auto* config = copy.as<Model::Config>();
  EXPECT_TRUE(config->extra_tpl.same_node(config->activation_tpl));
  EXPECT_FALSE(config->extra_tpl.same_node(model.extra_tpl));
}

TEST(TplSet, ConvertsToTheTypeOfTheMember) {
  Tpl<Layer> tpl = Model::Config{};
  tpl.set("name", "x");
  tpl.set("rate", 2);
  tpl.set("small", int64_t{12});
  tpl.set("dtype", "bfloat16");
  tpl.set("fprop_dtype", DType::kF16);
  tpl.set("mesh_shape", std::vector<int>{2, 3});
  tpl.set("limit", std::vector<double>{1, 2});
  tpl.set("activation_tpl", GELU::Config{});
  tpl.set("atten_tpl.dim_per_head", 64);
  tpl.set("eos_id", 5);
  tpl.set("other_init", WeightInit{.scale = 3});
  const auto& model = *tpl.as<Model::Config>();
  EXPECT_EQ(model.name, "x");
  EXPECT_EQ(model.rate, 2.0f);
  EXPECT_EQ(model.small, 12);
  EXPECT_EQ(model.dtype, DType::kBF16);
  EXPECT_EQ(model.fprop_dtype, DType::kF16);
  EXPECT_EQ(model.mesh_shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(model.limit[1], 2);
  EXPECT_NE(model.activation_tpl.as<GELU::Config>(), nullptr);
  EXPECT_EQ(model.atten_tpl.get<std::optional<int64_t>>("dim_per_head"), 64);
  EXPECT_EQ(std::get<int64_t>(model.eos_id), 5);
  EXPECT_EQ(model.other_init->scale, 3);
}

TEST(TplSet, NullClearsTemplatesAndOptionals) {
  Tpl<Layer> tpl = busy_model();
  tpl.set("extra_tpl", nullptr);
  tpl.set("other_init", std::nullopt);
  tpl.set("fprop_dtype", std::optional<DType>());
  EXPECT_FALSE(tpl.as<Model::Config>()->extra_tpl);
  EXPECT_FALSE(tpl.as<Model::Config>()->other_init.has_value());
  EXPECT_FALSE(tpl.as<Model::Config>()->fprop_dtype.has_value());
}

TEST(TplSet, SharesATemplateThatItIsGiven) {
  Tpl<Layer> tpl = Model::Config{};
  const Tpl<Layer> activation = GELU::Config{};
  tpl.set("activation_tpl", activation);
  EXPECT_TRUE(tpl.get<Tpl<Layer>>("activation_tpl").same_node(activation));
}

TEST(TplSet, NamesTheNearestMember) {
  Tpl<Layer> tpl = Model::Config{};
  EXPECT_THAT([&] { tpl.set("model_dim", 1); }, ThrowsMessage<ConfigError>(HasSubstr("Did you mean \"model_dims\"?")));
  EXPECT_THAT([&] { tpl.set("atten_tpl.numheads", 1); },
              ThrowsMessage<ConfigError>(HasSubstr("atten_tpl.numheads: no such field in "
                                                   "praxis.layers.DotProductAttention. Did you mean \"num_heads\"?")));
}

TEST(TplSet, RefusesValuesOfAnotherType) {
  Tpl<Layer> tpl = Model::Config{};
  EXPECT_THAT([&] { tpl.set("model_dims", "x"); },
              ThrowsMessage<ConfigError>(HasSubstr("must be an integer, not the text \"x\"")));
  EXPECT_THAT([&] { tpl.set("atten_tpl", Linear::Config{}); },
              ThrowsMessage<ConfigError>(HasSubstr("does not build a Attention")));
  EXPECT_THAT([&] { tpl.set("small", int64_t{1} << 40); }, ThrowsMessage<ConfigError>(HasSubstr("out of range")));
  EXPECT_THAT([&] { tpl.set("atten_tpl.dropout_prob", 1.5); },
              ThrowsMessage<ConfigError>(HasSubstr("1.5 must lie in 0 to 1")));
}

TEST(TplSet, TrySetTellsWhetherTheMemberExists) {
  Tpl<Layer> tpl = ReLU::Config{};
  EXPECT_FALSE(tpl.try_set("dim", 1));
  EXPECT_TRUE(tpl.try_set("name", "n"));
  EXPECT_TRUE(tpl.has_field("name"));
  EXPECT_EQ(tpl.get_or<int64_t>("dim", 7), 7);
}

TEST(CopyFieldsFrom, TakesEveryMemberOfTheSource) {
  Tpl<Layer> target = Linear::Config{};
  ReLU::Config source;
  source.name = "n";
  source.fprop_dtype = DType::kBF16;
  target.copy_fields_from(Tpl<Layer>(source));
  EXPECT_EQ(target.get<std::string>("name"), "n");
  EXPECT_EQ(target.get<std::optional<DType>>("fprop_dtype"), DType::kBF16);
}

TEST(CopyFieldsFrom, NamesAMemberThatIsLacking) {
  Tpl<Layer> target = ReLU::Config{};
  const Tpl<Layer> source = GELU::Config{};
  EXPECT_THAT([&] { target.copy_fields_from(source); }, ThrowsMessage<ConfigError>(HasSubstr("approximate: no such")));
  const std::string_view may_lack[] = {"approximate"};
  EXPECT_NO_THROW(target.copy_fields_from(source, may_lack));
}

TEST(MarkShared, MarksOnlyNodesInSeveralPlaces) {
  Model::Config model;
  model.extra_tpl = model.activation_tpl;
  config::mark_shared(model);
  ASSERT_NE(model.extra_tpl.shared_mark(), nullptr);
  EXPECT_EQ(model.extra_tpl.shared_mark()->handles, 2);
  EXPECT_EQ(model.atten_tpl.shared_mark(), nullptr);
}

TEST(MarkShared, BothPlacesBuildOneInstance) {
  Model::Config model;
  model.activation_tpl = Linear::Config{.input_dims = 1};
  model.extra_tpl = model.activation_tpl;
  config::mark_shared(model);
  std::unordered_map<int, std::shared_ptr<void>> instances;
  const auto first = model.extra_tpl.clone().build({"a", &instances});
  const auto second = model.activation_tpl.clone().build({"b", &instances});
  EXPECT_EQ(first, second);
  EXPECT_EQ(first->what(), "a:linear1x0");
  EXPECT_NE(model.activation_tpl.clone_unshared().build({"c", &instances}), first);
}

TEST(MarkShared, WhatIsSharedOnlyInsideATemplateIsSharedInsideEachCloneAlone) {
  Model::Config block;
  block.extra_tpl = block.activation_tpl;
  Model::Config model;
  model.layers = {block};
  config::mark_shared(model);
  const Tpl<Layer> one = model.layers[0].clone();
  const Tpl<Layer> two = model.layers[0].clone();
  const auto mark = [](const Tpl<Layer>& tpl, const char* field) {
    return tpl.get<Tpl<Layer>>(field).shared_mark()->id;
  };
  EXPECT_EQ(mark(one, "extra_tpl"), mark(one, "activation_tpl"));
  EXPECT_NE(mark(one, "extra_tpl"), mark(two, "extra_tpl"));
}

TEST(MarkShared, ALoopIsAnErrorThatNamesThePath) {
  Tpl<Layer> model = Model::Config{};
  Model::Config inner;
  inner.extra_tpl = model;
  model.as<Model::Config>()->layers = {inner};
  Model::Config root;
  root.extra_tpl = model;
  EXPECT_THAT([&] { config::mark_shared(root); },
              ThrowsMessage<ConfigError>(HasSubstr("extra_tpl.layers[0].extra_tpl: this praxis.layers.Model contains "
                                                   "itself (it is also extra_tpl)")));
  model.as<Model::Config>()->layers.clear();
}

}  // namespace
}  // namespace pax
