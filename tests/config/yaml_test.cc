#include "pax/config/yaml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pax/base/error.h"
#include "pax/config/compare.h"
#include "pax/config/errors.h"
#include "tests/config/things.h"

namespace pax {
namespace {

using config::diff;
using config::parse;
using config::print;
using config::Ref;
using config::Value;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::ThrowsMessage;
using namespace things;

Tpl<Layer> read(std::string_view text) { return parse<Layer>(text, registry(), "f.yaml"); }
Model::Config read_model(std::string_view text) {
  Model::Config model;
  config::update(model, config::read_yaml(text), registry());
  return model;
}
std::string error_of(std::string_view text) {
  try {
    read(text);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

TEST(Print, ReadsBackEqual) {
  const Tpl<Layer> model = busy_model();
  const std::string text = print(model);
  const Tpl<Layer> again = read(text);
  EXPECT_EQ(print(again), text);
  EXPECT_TRUE(config::equal(Ref(model), Ref(again)));
  EXPECT_THAT(diff(model, again), IsEmpty());
}

TEST(Print, OfDefaultsReadsBackEqual) {
  const Tpl<Layer> model = Model::Config{};
  EXPECT_EQ(print(read(print(model))), print(model));
}

TEST(Print, OfOnlyWhatChangedReadsBackEqual) {
  const Tpl<Layer> model = busy_model();
  EXPECT_TRUE(config::equal(Ref(read(print(model, {.only_changed = true}))), Ref(model)));
}

TEST(Print, OfOnlyWhatChangedLeavesOutDefaults) {
  Model::Config model;
  model.atten_tpl.set("dropout_prob", 0.5);
  EXPECT_EQ(print(model, {.only_changed = true}),
            "__class__: praxis.layers.Model\n"
            "atten_tpl:\n"
            "  __class__: praxis.layers.DotProductAttention\n"
            "  dropout_prob: 0.5\n");
}

TEST(Print, ShowsDocsAsComments) {
  const std::string text = print(Linear::Config{}, {.comments = true});
  EXPECT_THAT(text, HasSubstr("# Size of the last axis of the input.\ninput_dims: null\n"));
  EXPECT_NO_THROW(read(text));
}

TEST(Print, NumbersReadBackToTheBit) {
  Tpl<Layer> model = Model::Config{.rate = 0.1f};
  model.set("init.scale", 0.1 + 0.2);
  const Tpl<Layer> again = read(print(model));
  EXPECT_EQ(again.get<double>("init.scale"), 0.1 + 0.2);
  EXPECT_EQ(again.get<float>("rate"), 0.1f);
  EXPECT_THAT(print(model), HasSubstr("rate: 0.1\n"));
}

TEST(Print, InfinityReadsBack) {
  const Tpl<Layer> model = Model::Config{.limit = {-INFINITY, INFINITY}};
  EXPECT_EQ((read(print(model)).get<std::array<double, 2>>("limit")), (std::array<double, 2>{-INFINITY, INFINITY}));
}

TEST(Print, SharedNodesBecomeAnchorsAndStayShared) {
  Model::Config model;
  model.extra_tpl = model.activation_tpl;
  model.layers = {model.activation_tpl};
  const std::string text = print(model);
  EXPECT_THAT(text, HasSubstr("activation_tpl: &shared_1"));
  EXPECT_THAT(text, HasSubstr("extra_tpl: *shared_1\nlayers:\n  - *shared_1\n"));
  const auto again = read(text);
  const auto& config = *again.as<Model::Config>();
  EXPECT_TRUE(config.extra_tpl.same_node(config.activation_tpl));
  EXPECT_TRUE(config.layers[0].same_node(config.activation_tpl));
  EXPECT_EQ(print(again), text);
}

TEST(Print, OfNodesEqualButNotSharedKeepsThemApart) {
  Model::Config model;
  model.extra_tpl = ReLU::Config{};
  const auto again = read(print(model));
  EXPECT_FALSE(again.as<Model::Config>()->extra_tpl.same_node(again.as<Model::Config>()->activation_tpl));
}

TEST(Print, AsJsonReadsBackEqual) {
  const Tpl<Layer> model = busy_model();
  EXPECT_TRUE(config::equal(Ref(read(config::to_json(config::to_value(model)))), Ref(model)));
}

TEST(Parse, FindsClassesByTheEndOfTheirName) {
  EXPECT_EQ(read("__class__: Linear").class_name(), "praxis.layers.Linear");
  EXPECT_EQ(read("__class__: layers.Linear").class_name(), "praxis.layers.Linear");
  EXPECT_EQ(read("__class__: praxis.layers.linears.Linear").class_name(), "praxis.layers.Linear");
}

TEST(Parse, PicksTheClassThatFitsThePlace) {
  EXPECT_EQ(parse<Schedule>("__class__: Linear", registry()).class_name(), "praxis.schedules.Linear");
}

TEST(Parse, AcceptsJson) {
  const auto tpl =
      read(R"({"__class__": "Linear", "input_dims": 3, "name": "\ud83d\ude00 \u00e9", "fprop_dtype": null})");
  EXPECT_EQ(tpl.get<int64_t>("input_dims"), 3);
  EXPECT_EQ(tpl.get<std::string>("name"), "😀 é");
}

TEST(Parse, AcceptsJsonWithoutSpaces) {
  const auto tpl = read(R"({"__class__":"Linear","input_dims":3,"split":{"wt":["a",null,["b","c"]]}})");
  EXPECT_EQ(tpl.get<int64_t>("input_dims"), 3);
}

TEST(Update, LeavesMembersThatAreNotNamed) {
  const auto model = read_model("model_dims: 64\natten_tpl: {dropout_prob: 0.5}");
  EXPECT_EQ(model.model_dims, 64);
  EXPECT_EQ(model.atten_tpl.get<int64_t>("num_heads"), 4);
}

TEST(Update, TheSameClassIsUpdatedInPlace) {
  const auto model = read_model("atten_tpl: {__class__: DotProductAttention, dropout_prob: 0.5}");
  EXPECT_EQ(model.atten_tpl.get<int64_t>("num_heads"), 4);
}

TEST(Update, AnotherClassBeginsFromItsDefaults) {
  const auto model = read_model("activation_tpl: {__class__: GELU}");
  EXPECT_EQ(model.activation_tpl.get<bool>("approximate"), true);
}

TEST(Update, AClassNameAloneIsEnough) {
  EXPECT_NE(read_model("activation_tpl: GELU").activation_tpl.as<GELU::Config>(), nullptr);
}

TEST(Update, NullClears) {
  const auto model = read_model("activation_tpl: null\nfprop_dtype: ~\n");
  EXPECT_FALSE(model.activation_tpl);
}

TEST(Update, ListsAreReplacedAndTheirItemsBeginFromDefaults) {
  Model::Config model;
  model.inits = {WeightInit{.method = "a", .scale = 5}, WeightInit{}};
  config::update(model, config::read_yaml("inits: [{scale: 2}]"), registry());
  ASSERT_EQ(model.inits.size(), 1);
  EXPECT_EQ(model.inits[0].method, "xavier");
}

TEST(Update, AliasesShareOneNode) {
  const auto model = read_model("activation_tpl: &a {__class__: GELU}\nextra_tpl: *a\nlayers: [*a, {__class__: GELU}]");
  EXPECT_TRUE(model.extra_tpl.same_node(model.activation_tpl));
  EXPECT_TRUE(model.layers[0].same_node(model.activation_tpl));
  EXPECT_FALSE(model.layers[1].same_node(model.activation_tpl));
}

TEST(Update, AliasesOfPlainValuesCopy) {
  const auto model = read_model("model_dims: &d 40\natten_tpl: {num_heads: *d}\nmesh_shape: [*d]");
  EXPECT_EQ(model.atten_tpl.get<int64_t>("num_heads"), 40);
  EXPECT_EQ(model.mesh_shape[0], 40);
}

TEST(Update, NumbersAreReadByTheTypeOfTheMember) {
  const auto model = read_model(
      "init: {scale: 1e-4, method: 12}\nmodel_dims: 1e3\nrules: {a: 0x10}\nlimit: [3, .inf]\nname: 1.50\neos_id: [3]");
  EXPECT_EQ(model.init.scale, 1e-4);
  EXPECT_EQ(model.init.method, "12");
  EXPECT_EQ(model.model_dims, 1000);
  EXPECT_EQ(model.rules.at("a"), 16);
  EXPECT_EQ(model.limit[1], INFINITY);
  EXPECT_EQ(model.name, "1.50");
  EXPECT_EQ(std::get<1>(model.eos_id), std::vector<int64_t>{3});
}

TEST(Update, ReadsMeshAxesOfEachForm) {
  const auto model = read_model("split: {wt: [null, mdl, [data, mdl]], out: null}");
  const auto& wt = *model.split.at("wt");
  EXPECT_FALSE(wt[0].has_value());
  EXPECT_EQ(std::get<0>(*wt[1]), "mdl");
  EXPECT_EQ(std::get<1>(*wt[2]).size(), 2);
  EXPECT_FALSE(model.split.at("out").has_value());
}

TEST(ParseError, NamesPathClassNearestNameAndLine) {
  EXPECT_EQ(error_of("__class__: Model\natten_tpl:\n  num_head: 3\n"),
            "atten_tpl.num_head: no such field in praxis.layers.DotProductAttention. Did you mean \"num_heads\"? "
            "(f.yaml:3)");
}

TEST(ParseError, GivesAllMistakesTogether) {
  const std::string error = error_of(
      "__class__: Model\nmodel_dims: x\nnorm_policy: prex\nrate: true\nmesh_shape: [1, two]\nlimit: [1]\n"
      "activation_tpl: {__class__: GELLU}\natten_tpl: {__class__: Linear}\nextra_tpl: {a: 1}\nsmall: 3000000000\n"
      "init: 3\nlayers: {a: 1}\nmesh_shapes: 1\n");
  EXPECT_THAT(error, HasSubstr("model_dims: must be an integer, not the text \"x\" (f.yaml:2)\n"));
  EXPECT_THAT(error, HasSubstr("norm_policy: \"prex\" is none of pre, post. Did you mean \"pre\"? (f.yaml:3)\n"));
  EXPECT_THAT(error, HasSubstr("rate: must be a number, not true (f.yaml:4)\n"));
  EXPECT_THAT(error, HasSubstr("mesh_shape[1]: must be an integer, not the text \"two\" (f.yaml:5)\n"));
  EXPECT_THAT(error, HasSubstr("limit: must have 2 items, not 1 (f.yaml:6)\n"));
  EXPECT_THAT(error, HasSubstr("activation_tpl: no class \"GELLU\" is known. Did you mean \"GELU\"? (f.yaml:7)\n"));
  EXPECT_THAT(error, HasSubstr("atten_tpl: praxis.layers.Linear does not build a Attention (f.yaml:8)\n"));
  EXPECT_THAT(error, HasSubstr("extra_tpl: is null, so it needs a __class__ that builds a Layer (f.yaml:9)\n"));
  EXPECT_THAT(error, HasSubstr("small: 3000000000 is out of range"));
  EXPECT_THAT(error, HasSubstr("init: must be a praxis.base_layer.WeightInit, not the number 3 (f.yaml:11)\n"));
  EXPECT_THAT(error, HasSubstr("layers: must be a list"));
  EXPECT_THAT(error, HasSubstr("mesh_shapes: no such field in praxis.layers.Model. Did you mean \"mesh_shape\"?"));
}

TEST(ParseError, QuotedNumbersAreText) {
  EXPECT_THAT(error_of("{__class__: Model, model_dims: \"3\"}"), HasSubstr("not the text \"3\""));
}

TEST(ParseError, FractionsAreNoIntegers) {
  EXPECT_THAT(error_of("{__class__: Model, model_dims: 3.5}"), HasSubstr("must be an integer, not the number 3.5"));
  EXPECT_THAT(error_of("{__class__: Model, model_dims: 1_000}"), HasSubstr("not the text \"1_000\""));
}

TEST(ParseError, OutOfRangeNumbersAreNamed) {
  EXPECT_THAT(error_of("{__class__: Model, model_dims: 99999999999999999999}"), HasSubstr("is out of range"));
  EXPECT_THAT(error_of("{__class__: Model, init: {scale: 1e999}}"), HasSubstr("1e999 is out of range of a double"));
  EXPECT_THAT(error_of("{__class__: Model, rate: 1e300}"), HasSubstr("1e300 is out of range of a float"));
  EXPECT_THAT(error_of("{__class__: Model, mesh_shape: [1, 0]}"), HasSubstr("mesh_shape[1]: 0 must be at least 1"));
}

TEST(ParseError, CountsWhatItDoesNotList) {
  std::string text = "__class__: Model\n";
  for (int i = 0; i < 150; ++i) text += "x" + std::to_string(i) + ": 1\n";
  EXPECT_THAT(error_of(text), testing::EndsWith("\nand 50 more"));
}

TEST(ParseError, LongNamesAreCutShort) {
  EXPECT_LT(error_of("__class__: Model\n" + std::string(1'000'000, 'k') + "k: 1\n").size(), 5000);
}

TEST(ParseError, AmbiguousNamesListTheCandidates) {
  EXPECT_THAT([] { parse<Layer>("__class__: WeightInit", registry()); },
              ThrowsMessage<ConfigError>(HasSubstr("does not build a Layer")));
  EXPECT_THAT([] { registry().find("Linear"); },
              ThrowsMessage<ConfigError>(
                  "Linear may be any of praxis.layers.Linear, praxis.schedules.Linear; write the whole name"));
}

TEST(ParseError, TheTopNeedsAClass) {
  EXPECT_THAT(error_of("model_dims: 3"), HasSubstr("needs a __class__"));
  EXPECT_THAT(error_of(""), HasSubstr("the config is empty"));
  EXPECT_THAT(error_of("[1]"), HasSubstr("not a list of 1"));
}

struct Other {
  static constexpr std::string_view kName = "praxis.layers.Linear";
  int x = 0;
  static void fields(Other& self, config::FieldVisitor& visit) { visit("x", self.x); }
};

TEST(Registry, RefusesTwoClassesOfOneName) {
  config::Registry all = registry();
  EXPECT_THAT([&] { all.add<Other>(); }, ThrowsMessage<ConfigError>(HasSubstr("two classes of this name")));
  EXPECT_NO_THROW(all.add<Linear::Config>());
}

}  // namespace
}  // namespace pax
