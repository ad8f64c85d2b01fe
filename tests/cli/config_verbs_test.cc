#include <gmock/gmock.h>

#include "pax/base/files.h"
#include "tests/cli/paxml.h"

namespace pax {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Validate, ReportsAllMistakesTogether) {
  const Ended ended =
      paxml({"config", "validate", "--exp", "LmCloudSpmd1024B", "--fdl.NUM_HEADS=7", "--fdl.NUM_LAYER=3", "--set",
             "task.train.sav=2", "--set", "task.model.lm_tpl.model_dims=abc"});
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("NUM_LAYERS"), HasSubstr("24576"), HasSubstr("task.train.sav"),
                               HasSubstr("task.model.lm_tpl.model_dims")));
}

TEST(Validate, TakesTheLargestExperiment) {
  EXPECT_EQ(paxml({"config", "validate", "--exp", "LmCloudSpmd1024B"}).exit_code, 0);
}

TEST(Describe, WritesAPageOfTheLayers) {
  const TempDirectory files;
  const std::string page = (files.path() / "model.html").string();
  EXPECT_EQ(paxml({"describe", "LmCloudSpmdTest", "--html", page}).exit_code, 0);
  EXPECT_THAT(read_file(page), AllOf(HasSubstr("<details"), HasSubstr("ff_layer"), HasSubstr("2,179,600")));
}

TEST(List, SearchesNamesAndWords) {
  EXPECT_THAT(paxml({"list", "grok"}).out, AllOf(HasSubstr("lm.nvidia.Grok_PP"), Not(HasSubstr("lm.c4"))));
}

TEST(Graph, DrawsATemplateOnceForEachPlace) {
  const Ended ended = paxml({"config", "graph", "--exp", "LmCloudSpmdTest"});
  EXPECT_THAT(ended.out, AllOf(HasSubstr("digraph"), HasSubstr("praxis.layers.TransformerLm"), HasSubstr("->")));
}

TEST(Convert, FromMaxTextSaysWhatBecameOfEachKey) {
  const Ended ended =
      paxml({"config", "convert", "--from", "maxtext", "model_name=llama2-7b", "steps=7", "sa_block_q=3"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("num_train_steps: 7"));
  EXPECT_THAT(ended.err, AllOf(HasSubstr("steps = 7: mapped"), HasSubstr("sa_block_q = 3: ignored")));
}

TEST(Convert, ToFiddleReadsBack) {
  const TempDirectory files;
  const std::string json = (files.path() / "task.json").string();
  EXPECT_EQ(paxml({"config", "convert", "--exp", "LmCloudSpmdTest", "--to", "fiddle", "--out", json}).exit_code, 0);
  const Ended shown =
      paxml({"config", "show", "--exp", "LmCloudSpmdTest", "--fdl_config", json, "--path", "task.model"});
  EXPECT_EQ(shown.out, paxml({"config", "show", "--exp", "LmCloudSpmdTest", "--path", "task.model"}).out) << shown.err;
}

TEST(New, WritesAFileAndRefusesToWriteItAgain) {
  const TempDirectory files;
  EXPECT_EQ(paxml({"new", "layer", "Mine", files.path().string()}).exit_code, 0);
  EXPECT_THAT(read_file(files.path() / "Mine.cc"), HasSubstr("class Mine final"));
  EXPECT_THAT(read_file(files.path() / "CMakeLists.txt"), HasSubstr("add_library(Mine SHARED Mine.cc)"));
  EXPECT_EQ(paxml({"new", "layer", "Mine", files.path().string()}).exit_code, 2);
  EXPECT_EQ(paxml({"new", "layer", "not-a-name", files.path().string()}).exit_code, 2);
}

TEST(Load, OfSomethingElseIsAMistakeThatNamesIt) {
  const Ended ended = paxml({"config", "show", "--exp", "LmCloudSpmdTest", "--load", "none.so"});
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_THAT(ended.err, HasSubstr("none.so"));
}

}  // namespace
}  // namespace pax
