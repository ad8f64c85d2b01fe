#include <gmock/gmock.h>

#include "tests/cli/paxml.h"

namespace pax {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// A mistake of the user's: exit code 2, one message, no stack trace.
void expect_mistake(const Ended& ended, const ::testing::Matcher<std::string>& message) {
  EXPECT_EQ(ended.exit_code, 2) << ended.err;
  EXPECT_THAT(ended.err, message);
  EXPECT_THAT(ended.err, Not(HasSubstr("terminate called")));
}

class Mistake : public ::testing::Test {
 protected:
  Mistake() { write_text(text_, 3000); }

  Ended train_with(std::vector<std::string> more, const std::string& text = "") const {
    std::vector<std::string> args{"train"};
    const std::vector<std::string> tiny = tiny_experiment(text.empty() ? text_ : std::filesystem::path(text), 2);
    args.insert(args.end(), tiny.begin(), tiny.end());
    args.insert(args.end(), {"--job_log_dir", (files_.path() / "run").string()});
    args.insert(args.end(), more.begin(), more.end());
    return paxml(args);
  }

  std::string file(const std::string& name, std::string_view contents) const {
    write_file_atomically(files_.path() / name, contents);
    return (files_.path() / name).string();
  }

  TempDirectory files_;
  const std::filesystem::path text_ = files_.path() / "text.txt";
};

TEST_F(Mistake, UnknownExperimentNamesTheNearest) {
  expect_mistake(paxml({"describe", "--exp", "lm.text.ByteLmSmal"}), HasSubstr("ByteLmSmall"));
}

TEST_F(Mistake, MisspeltKeyNamesItAndTheNearestFromFlagAndFileAlike) {
  const auto message = AllOf(HasSubstr("sav_interval"), HasSubstr("save_interval_steps"));
  expect_mistake(train_with({"--set", "task.train.sav_interval=5"}), message);
  const std::string yaml = file("my.yaml", "base: lm.text.ByteLmSmall\ntask:\n  train:\n    sav_interval: 5\n");
  expect_mistake(paxml({"config", "validate", "--config", yaml}), message);
}

TEST_F(Mistake, WrongTypeNamesPathAndBoth) {
  expect_mistake(train_with({"--set", "task.train.save_interval_steps=often"}),
                 AllOf(HasSubstr("task.train.save_interval_steps"), HasSubstr("often")));
}

TEST_F(Mistake, UnknownConstantIsNamed) { expect_mistake(train_with({"--fdl.NUM_LAYER=2"}), HasSubstr("NUM_LAYERS")); }

TEST_F(Mistake, HeadsThatDoNotDivideNameTheNumbers) {
  expect_mistake(train_with({"--fdl.NUM_HEADS=3"}), AllOf(HasSubstr("3"), HasSubstr("16"), HasSubstr("MODEL_DIMS")));
}

TEST_F(Mistake, BatchThatDoesNotDivideOverDevicesNamesBothNumbers) {
  expect_mistake(paxml({"config", "validate", "--exp", "LmCloudSpmdTest", "--fdl.ICI_MESH_SHAPE=[1,4,1]", "--set",
                        "input.batch_size=10"}),
                 AllOf(HasSubstr("10"), HasSubstr("4"), HasSubstr("input.batch_size")));
}

TEST_F(Mistake, TextFileThatIsMissingEmptyOrBinaryIsNamed) {
  const std::string missing = (files_.path() / "none.txt").string();
  for (const std::string& path : {missing, file("empty.txt", ""), file("binary.bin", std::string(4000, '\0'))}) {
    const Ended ended = train_with({}, path);
    EXPECT_NE(ended.exit_code, 0);
    EXPECT_THAT(ended.err, HasSubstr(path));
  }
}

TEST_F(Mistake, IdOutsideTheVocabularyIsNamedBeforeTheStep) {
  const Ended ended = train_with({"--fdl.VOCAB_SIZE=64"});
  EXPECT_NE(ended.exit_code, 0);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("row"), HasSubstr("column"), HasSubstr("64")));
}

TEST_F(Mistake, NoExperimentSaysHowToGiveOne) { expect_mistake(paxml({"describe"}), HasSubstr("--exp NAME")); }

TEST_F(Mistake, UnknownVerbAndMissingFlagAreUsageErrors) {
  EXPECT_EQ(paxml({"trian"}).exit_code, 2);
  EXPECT_EQ(paxml({"train", "--exp", "ByteLmSmall"}).exit_code, 2);
  EXPECT_EQ(paxml({}).exit_code, 2);
}

TEST_F(Mistake, PluginThatIsMissingNamesTheCommandThatGetsIt) {
  const Ended ended = train_with({"--platform", "rocm"});
  EXPECT_NE(ended.exit_code, 0);
  EXPECT_THAT(ended.err, HasSubstr("scripts/setup --platform rocm"));
}

TEST_F(Mistake, CheckpointFolderWithoutOneIsNamed) {
  const Ended ended = paxml({"checkpoint", "hash", (files_.path() / "none").string()});
  EXPECT_NE(ended.exit_code, 0);
  EXPECT_THAT(ended.err, HasSubstr("none"));
}

}  // namespace
}  // namespace pax
