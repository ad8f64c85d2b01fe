#include "pax/interop/fiddle/fiddle.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "pax/base/error.h"
#include "pax/base/files.h"
#include "pax/config/compare.h"
#include "pax/data/compression.h"
#include "tests/experiments/testing.h"

namespace pax {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const std::filesystem::path kDumps = std::filesystem::path(PAX_SOURCE_DIR) / "tests/experiments/fiddle";

std::string read_dump(const std::string& name) {
  std::string text;
  data::expand_to(data::Compression::kGzip, read_file(kDumps / (name + ".json.gz")),
                  [&](std::string_view piece) { text += piece; });
  return text;
}

std::vector<std::string> dump_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kDumps)) {
    names.push_back(entry.path().stem().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string text_of(const std::vector<config::Difference>& differences) {
  std::string text;
  for (const config::Difference& d : differences) text += d.path + ": " + d.left + " -> " + d.right + "\n";
  return text;
}

/// A task that Paxml 1.4 dumped, beside the preset of that name.
class Dump : public ::testing::TestWithParam<std::string> {
 protected:
  const config::Registry registry_ = make_registry();
  const std::string dumped_ = read_dump(GetParam());
};

TEST_P(Dump, IsThePreset) {
  const SingleTask dumped = task_from_fiddle(dumped_, GetParam(), registry_);
  const SingleTask ours = preset(GetParam(), registry_).build()->config().task;
  SingleTask compared = dumped;
  compared.train.inputs_split_mapping = {};
  compared.train.init_from_checkpoint_rules = {};
  if (compared.train.num_train_steps == 1e7)
    compared.train.num_train_steps = ours.train.num_train_steps;  // Llama's limit is newer
  compared.early_stopping_fn = ours.early_stopping_fn;
  EXPECT_EQ(text_of(config::diff(compared, ours)), "");
  EXPECT_EQ(count_params(dumped), count_params(ours));
}

TEST_P(Dump, ComesBackFromWhatIsWritten) {
  SingleTask task = task_from_fiddle(dumped_, GetParam(), registry_);
  const SingleTask again = task_from_fiddle(task_to_fiddle(task), "again", registry_);
  task.train.inputs_split_mapping = again.train.inputs_split_mapping;
  EXPECT_EQ(text_of(config::diff(task, again)), "");
}

INSTANTIATE_TEST_SUITE_P(All, Dump, ::testing::ValuesIn(dump_names()),
                         [](const auto& info) { return test_name(info.param); });

std::string message_of(const std::string& json) {
  try {
    task_from_fiddle(json, "bad.json", make_registry());
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

TEST(FiddleReader, NamesEveryUnknownClassWithItsPathAtOnce) {
  std::string json = read_dump("lm.lm_cloud.LmCloudSpmdTest");
  json = replaced(json, "\"Adam\"", "\"MyAdam\"");
  json = replaced(json, "\"TransformerFeedForward\"", "\"MyFeedForward\"");
  EXPECT_THAT(message_of(json), AllOf(HasSubstr("praxis.optimizers.MyAdam"), HasSubstr("train.learner.optimizer"),
                                      HasSubstr("MyFeedForward"), HasSubstr("tr_fflayer_tpl")));
}

TEST(FiddleReader, NamesTheMemberThatItDoesNotKnow) {
  const std::string json =
      replaced(read_dump("lm.lm_cloud.LmCloudSpmdTest"), "Attr(name='x_times')", "Attr(name='x_tims')");
  EXPECT_THAT(message_of(json), AllOf(HasSubstr("x_tims"), HasSubstr("x_times")));
}

TEST(FiddleReader, TakesBadInputWithOneClearError) {
  const std::string loop =
      R"json({"root": {"type": "ref", "key": "a"}, "objects": {"a": {"type": {"type": "pyref", "module": "builtins",
      "name": "list"}, "items": [["Index(index=0)", {"type": "ref", "key": "a"}]], "metadata": null}}})json";
  EXPECT_THAT(message_of(loop), HasSubstr("contains itself"));
  EXPECT_THAT(message_of("{\"root\": 1"), HasSubstr("is not JSON"));
  EXPECT_THAT(message_of("[]"), HasSubstr("is no Fiddle JSON"));
  EXPECT_THAT(message_of("\xff"), HasSubstr("UTF-8"));
  EXPECT_THAT(message_of(R"({"root": {"type": "ref", "key": "b"}, "objects": {}})"), HasSubstr("\"b\""));
  EXPECT_THAT(message_of(R"({"root": {"type": "leaf", "value": 1}, "objects": {}})"), HasSubstr("a mapping"));
}

TEST(FiddleReader, BoundsWhatReferencesExpandTo) {
  std::string objects;
  for (int i = 0; i < 40; ++i) {
    const std::string next = "{\"type\": \"ref\", \"key\": \"l" + std::to_string(i + 1) + "\"}";
    objects += "\"l" + std::to_string(i) +
               "\": {\"type\": {\"type\": \"pyref\", \"module\": \"builtins\", \"name\": \"list\"}, " +
               "\"items\": [[\"Index(index=0)\", " + next + "], [\"Index(index=1)\", " + next +
               "]], \"metadata\": null},";
  }
  objects +=
      R"("l40": {"type": {"type": "pyref", "module": "builtins", "name": "list"}, "items": [], "metadata": null})";
  EXPECT_THAT(message_of(R"({"root": {"type": "ref", "key": "l0"}, "objects": {)" + objects + "}}"),
              HasSubstr("values"));
}

}  // namespace
}  // namespace pax
