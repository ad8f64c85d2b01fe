#include <gmock/gmock.h>

#include "pax/base/text.h"
#include "tests/cli/paxml.h"

namespace pax {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(Describe, CountsTheParametersOfThePresetsExactly) {
  const std::pair<const char*, const char*> counts[] = {{"lm.lm_cloud.LmCloudSpmdTest", "2179600"},
                                                        {"lm.c4.C4Spmd1BAdam4Replicas", "1104619904"},
                                                        {"lm.c4.C4Spmd16BAdam32Replicas", "16506101504"}};
  for (const auto& [name, count] : counts) {
    const Ended ended = paxml({"describe", "--exp", name, "--json"});
    EXPECT_EQ(ended.exit_code, 0) << ended.err;
    EXPECT_THAT(ended.out, HasSubstr(std::string("\"num_params\":") + count)) << name;
  }
}

TEST(List, NamesEveryExperiment) {
  EXPECT_THAT(paxml({"list"}).out, AllOf(HasSubstr("lm.text.ByteLmSmall"), HasSubstr("lm.c4.C4Spmd1BAdam4Replicas")));
}

TEST(Config, ThatIsPrintedReadsBackEqual) {
  const TempDirectory files;
  const Ended shown = paxml({"config", "show", "--exp", "LmCloudSpmdTest"});
  write_file_atomically(files.path() / "shown.yaml", shown.out);
  const Ended again = paxml({"config", "show", "--config", (files.path() / "shown.yaml").string()});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(again.out, shown.out);
}

TEST(Config, FileBeginsFromAnExperimentAndOverrides) {
  const TempDirectory files;
  write_file_atomically(files.path() / "my.yaml", "base: LmCloudSpmdTest\nNUM_LAYERS: 3\ntask:\n  name: mine\n");
  const std::string file = (files.path() / "my.yaml").string();
  const Ended shown = paxml({"config", "show", "--config", file, "--set", "task.train.num_train_steps=1e3"});
  EXPECT_THAT(shown.out, AllOf(HasSubstr("x_times: 3"), HasSubstr("name: mine"), HasSubstr("num_train_steps: 1000")));
}

TEST(Config, DiffNamesPathAndBothValues) {
  const Ended ended = paxml({"config", "diff", "LmCloudSpmdTest", "LmCloudSpmd2B"});
  EXPECT_THAT(ended.out, HasSubstr("task.model.lm_tpl.model_dims: 64 -> 3072"));
}

TEST(Trace, OfThe16BModelPrintsItsTimesAndWritesTheProgram) {
  const TempDirectory files;
  const std::string out = (files.path() / "program.mlir").string();
  const Ended ended = paxml({"trace", "--exp", "C4Spmd16BAdam32Replicas", "--json", "--out", out});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  for (const char* field : {"trace_ms", "grad_ms", "emit_ms", "total_ms", "ops", "text_bytes"}) {
    EXPECT_THAT(ended.out, HasSubstr(std::string("\"") + field + "\":"));
  }
  EXPECT_THAT(read_file(out), HasSubstr("stablehlo.while"));
}

TEST(Mode, IsPaxsSpellingOfTheVerb) {
  EXPECT_EQ(paxml({"--exp", "ByteLmSmall", "--mode", "train"}).exit_code, 2);
  EXPECT_THAT(paxml({"--exp", "ByteLmSmall", "--mode", "train"}).err, HasSubstr("job_log_dir"));
}

TEST(Help, OfEveryVerbNamesItsFlags) {
  for (const char* verb : {"train", "eval", "list", "describe", "trace"}) {
    const Ended ended = paxml({verb, "--help"});
    EXPECT_EQ(ended.exit_code, 0);
    EXPECT_THAT(ended.out, HasSubstr("--json"));
  }
}

}  // namespace
}  // namespace pax
