#include "pax/config/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/config/things.h"

namespace pax::config {

void PrintTo(const Difference& d, std::ostream* out) { *out << d.path << ": " << d.left << " -> " << d.right; }
static bool operator==(const Difference& a, const Difference& b) {
  return a.path == b.path && a.left == b.left && a.right == b.right;
}

namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using namespace things;

TEST(Diff, OfEqualConfigsIsEmpty) { EXPECT_THAT(diff(busy_model(), busy_model()), IsEmpty()); }

TEST(Diff, ListsPathsWithBothValues) {
  Model::Config a, b;
  b.model_dims = 32;
  b.mesh_shape = {1};
  b.atten_tpl.set("proj_tpl.output_dims", 3);
  b.layers = {ReLU::Config{}};
  b.rules["x"] = 1;
  b.fprop_dtype = DType::kBF16;
  EXPECT_THAT(diff(a, b),
              ElementsAre(Difference{"fprop_dtype", "null", "\"bfloat16\""}, Difference{"model_dims", "16", "32"},
                          Difference{"mesh_shape", "[1, 4, 1]", "[1]"}, Difference{"rules", "{}", "{x: 1}"},
                          Difference{"atten_tpl.proj_tpl.output_dims", "0", "3"},
                          Difference{"layers[0]", "(absent)", "praxis.layers.ReLU"}));
}

TEST(Diff, ComparesWhatTwoClassesHaveInCommon) {
  Model::Config a, b;
  a.activation_tpl.set("name", "x");
  b.activation_tpl = GELU::Config{};
  EXPECT_THAT(diff(a, b), ElementsAre(Difference{"activation_tpl", "praxis.layers.ReLU", "praxis.layers.GELU"},
                                      Difference{"activation_tpl.name", "\"x\"", "\"\""}));
}

TEST(Find, FindsMembersAndClassesByPartOfTheirName) {
  const auto found = find(Model::Config{}, "Dropout");
  ASSERT_EQ(found.size(), 1);
  EXPECT_EQ(found[0].path, "atten_tpl.dropout_prob");
  EXPECT_EQ(found[0].value, "0.0");
  EXPECT_EQ(found[0].doc, "Of the probabilities.");
  EXPECT_EQ(find(Model::Config{}, "relu").at(0).path, "activation_tpl");
}

}  // namespace
}  // namespace pax::config
