#include "pax/config/schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pax/config/yaml.h"
#include "tests/config/things.h"

namespace pax::config {
namespace {

using testing::Contains;
using testing::Not;
using namespace things;

const Value& at(const Value& value, std::initializer_list<std::string_view> path) {
  const Value* here = &value;
  for (const std::string_view key : path) {
    here = here->find(key);
    if (here == nullptr) throw std::out_of_range(std::string(key));
  }
  return *here;
}

TEST(Schema, DescribesEveryMember) {
  const Value out = schema(type_of<Model::Config>(), registry());
  const Value& properties = at(out, {"$defs", "praxis.layers.Model", "properties"});
  Model::Config model;
  EXPECT_EQ(properties.keys.size(), 1 + type_of<Model::Config>().fields(&model).size());
  EXPECT_EQ(to_json(at(properties, {"model_dims"})), R"({"type": "integer", "description": "Width.", "default": 16})");
  EXPECT_EQ(to_json(at(properties, {"mesh_shape"})),
            R"({"type": "array", "items": {"type": "integer", "minimum": 1.0}})");
  EXPECT_EQ(to_json(at(properties, {"norm_policy", "enum"})), R"(["pre", "post"])");
}

TEST(Schema, OffersTheClassesThatFitATemplate) {
  const Value out = schema(type_of<Model::Config>(), registry());
  EXPECT_EQ(to_json(at(out, {"$defs", "any.Attention", "anyOf"})),
            R"([{"$ref": "#/$defs/praxis.layers.DotProductAttention"}, )"
            R"({"enum": ["praxis.layers.DotProductAttention"]}, {"type": "null"}])");
  EXPECT_THAT(at(out, {"$defs"}).keys, Contains("praxis.layers.GELU"));
  EXPECT_THAT(at(out, {"$defs"}).keys, Not(Contains("praxis.schedules.Linear")));
}

}  // namespace
}  // namespace pax::config
