#include "pax/config/paths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pax/base/error.h"
#include "pax/config/yaml.h"
#include "tests/config/things.h"

namespace pax {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;
using namespace things;

Model::Config with(std::vector<std::string> assignments) {
  Model::Config model;
  model.layers = {ReLU::Config{}, Linear::Config{}};
  config::apply_overrides(model, assignments, registry());
  return model;
}

TEST(Override, ReachesEveryPlace) {
  const auto model = with({"model_dims=512", "layers[1].output_dims = 7", "atten_tpl.proj_tpl.name=p",
                           "init.scale=1e-4", "mesh_shape=[1, 2]", "rules[\"a.b\"]=3", "rules.c=4", "mesh_shape[0]=9",
                           "other_init.scale=2", "limit[1]=-3", "split.wt=[null, mdl]"});
  EXPECT_EQ(model.model_dims, 512);
  EXPECT_EQ(model.layers[1].get<int64_t>("output_dims"), 7);
  EXPECT_EQ(model.atten_tpl.get<std::string>("proj_tpl.name"), "p");
  EXPECT_EQ(model.init.scale, 1e-4);
  EXPECT_EQ(model.mesh_shape, (std::vector<int64_t>{9, 2}));
  EXPECT_EQ(model.rules, (std::map<std::string, int64_t>{{"a.b", 3}, {"c", 4}}));
  EXPECT_EQ(model.other_init->scale, 2);
  EXPECT_EQ(model.limit[1], -3);
  EXPECT_EQ(std::get<0>(*(*model.split.at("wt"))[1]), "mdl");
}

TEST(Override, TextMembersTakeTextAsItStands) {
  EXPECT_EQ(with({"name=a: [b"}).name, "a: [b");
  EXPECT_EQ(with({"name=x=y"}).name, "x=y");
  EXPECT_EQ(with({"name=\"q \""}).name, "q ");
  EXPECT_EQ(with({"name="}).name, "");
  EXPECT_EQ(with({"name=null"}).name, "null");
}

TEST(Override, ReplacesClasses) {
  EXPECT_NE(with({"activation_tpl=GELU"}).activation_tpl.as<GELU::Config>(), nullptr);
  EXPECT_NE(with({"activation_tpl.__class__=praxis.layers.GELU"}).activation_tpl.as<GELU::Config>(), nullptr);
  EXPECT_EQ(with({"extra_tpl={__class__: Linear, output_dims: 3}"}).extra_tpl.get<int64_t>("output_dims"), 3);
  EXPECT_FALSE(with({"activation_tpl=null"}).activation_tpl);
}

TEST(Override, GivesAllMistakesTogether) {
  EXPECT_THAT(
      [] {
        with({"model_dim=3", "layers[5].name=x", "extra_tpl.name=x", "small=x", "nonsense", "a..b=1", "name.x=1"});
      },
      ThrowsMessage<ConfigError>("model_dim: no such field in praxis.layers.Model. Did you mean \"model_dims\"?\n"
                                 "layers: has 2 items, so [5] does not exist\n"
                                 "extra_tpl: is null here; give it a __class__ that builds a Layer first\n"
                                 "small: must be an integer, not the text \"x\"\n"
                                 "nonsense: an override is path=value\n"
                                 "a..b: a..b: a name is missing between the dots\n"
                                 "name: is a text, which has no field \"x\""));
}

TEST(ValueAt, GivesAPartOfTheTree) {
  const auto model = with({});
  EXPECT_EQ(config::to_json(config::value_at(model, "mesh_shape")), "[1, 4, 1]");
  EXPECT_EQ(config::to_json(config::value_at(model, "atten_tpl.num_heads")), "4");
  EXPECT_THROW(config::value_at(model, "atten_tpl.num_head"), ConfigError);
}

}  // namespace
}  // namespace pax
