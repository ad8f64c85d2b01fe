#include "pax/experiments/load.h"

#include <gmock/gmock.h>

#include "pax/base/error.h"
#include "pax/base/files.h"
#include "tests/experiments/testing.h"

namespace pax {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;

class Load : public ::testing::Test {
 protected:
  std::filesystem::path file(const std::string& name, std::string_view text) {
    write_file_atomically(files_.path() / name, text);
    return files_.path() / name;
  }
  LoadedExperiment load(const std::filesystem::path& path) { return load_experiment({.file = path}, registry_); }
  std::string mistake(const std::filesystem::path& path) {
    try {
      load(path);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "";
  }

  const TempDirectory files_;
  const config::Registry registry_ = make_registry();
};

TEST_F(Load, FileTakesItsIncludesFirst) {
  file("base.yaml", "base: LmCloudSpmdTest\nNUM_LAYERS: 5\nMODEL_DIMS: 32\n");
  const auto top = file("top.yaml", "include: base.yaml\nNUM_LAYERS: 3\ntask: {name: mine}\n");
  const ExperimentConfig config = load(top).config;
  EXPECT_EQ(config.task.model.get<int64_t>("lm_tpl.stacked_transformer_tpl.x_times"), 3);
  EXPECT_EQ(config.task.model.get<int64_t>("lm_tpl.model_dims"), 32);
  EXPECT_EQ(config.task.name, "mine");
}

TEST_F(Load, IncludesInACircleAreNamed) {
  file("a.yaml", "include: [b.yaml]\n");
  EXPECT_THAT(mistake(file("b.yaml", "include: [a.yaml]\n")), HasSubstr("includes itself"));
}

TEST_F(Load, IncludeThatIsMissingIsNamed) {
  EXPECT_ANY_THROW(load(file("c.yaml", "include: none.yaml\n")));
  EXPECT_THAT(mistake(file("d.yaml", "include: {a: 1}\n")), HasSubstr("include must be text"));
}

TEST_F(Load, FindsMistakesOfConstantsMembersAndFlagsTogether) {
  const auto path = file("bad.yaml",
                         "base: LmCloudSpmdTest\nNUM_LAYER: 2\nNUM_HEADS: 3\nVOCAB_SIZE: 0\ntask:\n  train:\n"
                         "    sav_interval: 5\n    num_train_steps: many\n");
  config::Errors errors;
  load_experiment({.file = path, .overrides = {"task.model.nam=x"}}, registry_, errors);
  EXPECT_THAT(errors.messages(), AllOf(Contains(AllOf(HasSubstr("NUM_LAYER"), HasSubstr("NUM_LAYERS"))),
                                       Contains(AllOf(HasSubstr("NUM_HEADS"), HasSubstr("24"), HasSubstr("64"))),
                                       Contains(HasSubstr("VOCAB_SIZE")), Contains(HasSubstr("sav_interval")),
                                       Contains(HasSubstr("num_train_steps")), Contains(HasSubstr("task.model.nam"))));
}

TEST_F(Load, PipelineThatDoesNotFitNamesTheNumbers) {
  config::Errors errors;
  load_experiment({.name = "LmCloudSpmdPipeline9B", .constants = {"NUM_LAYERS=47", "NUM_STAGES=8"}}, registry_, errors);
  EXPECT_THAT(errors.messages(), AllOf(Contains(AllOf(HasSubstr("NUM_LAYERS"), HasSubstr("47"), HasSubstr("8"))),
                                       Contains(AllOf(HasSubstr("NUM_STAGES"), HasSubstr("16")))));
}

TEST_F(Load, MeshOfTheWrongLengthNamesTheAxes) {
  config::Errors errors;
  load_experiment({.name = "LmCloudSpmd2B", .constants = {"ICI_MESH_SHAPE=[1,4]"}}, registry_, errors);
  EXPECT_THAT(errors.messages(), Contains(AllOf(HasSubstr("ICI_MESH_SHAPE"), HasSubstr("replica, data, mdl"))));
}

TEST_F(Load, OneAnchorIsOneLayer) {
  const auto path = file(
      "shared.yaml",
      "base: LmCloudSpmdTest\ntask:\n  model:\n    lm_tpl:\n      final_ln_tpl: &norm {__class__: RmsNorm, dim: 64}\n"
      "      separate_embedding_tpl: *norm\n");
  const ExperimentConfig config = load(path).config;
  const auto a = config.task.model.get<Tpl<Layer>>("lm_tpl.final_ln_tpl");
  EXPECT_TRUE(a.same_node(config.task.model.get<Tpl<Layer>>("lm_tpl.separate_embedding_tpl")));
}

}  // namespace
}  // namespace pax
