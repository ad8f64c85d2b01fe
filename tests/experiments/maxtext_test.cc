#include "pax/interop/maxtext/maxtext.h"

#include <gmock/gmock.h>

#include "pax/base/error.h"
#include "pax/base/files.h"
#include "pax/base/text.h"
#include "pax/interop/maxtext/fields.h"
#include "pax/layers/transformers/stack.h"
#include "tests/experiments/testing.h"

namespace pax {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

MaxTextConversion convert(const std::vector<std::string>& arguments) { return from_maxtext({}, arguments); }

std::string mistake(const std::vector<std::string>& arguments) {
  try {
    convert(arguments);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

const MaxTextLine* line_of(const MaxTextConversion& conversion, std::string_view key) {
  for (const MaxTextLine& line : conversion.report) {
    if (line.key == key) return &line;
  }
  return nullptr;
}

TEST(MaxText, KnowsEveryKeyOfItsBaseConfig) {
  std::map<maxtext::Treatment, int> counts;
  for (const auto& [name, key] : maxtext::keys()) ++counts[key.treatment];
  EXPECT_EQ(maxtext::keys().size(), 748U);  // 696 of base.yml and 52 more
  for (const maxtext::KeyField& field : maxtext::key_fields()) {
    EXPECT_TRUE(maxtext::keys().contains(field.key)) << field.key;
  }
}

TEST(MaxText, BaseConfigLoadsAsItIs) {
  std::string yaml;
  const TempDirectory files;
  for (const auto& [name, key] : maxtext::keys()) {
    if (name == "base_config" || key.default_text == "-") continue;  // a dash: it has none
    yaml += name + ": " + (key.default_text.empty() ? "''" : key.default_text) + "\n";
  }
  write_file_atomically(files.path() / "base.yml", yaml);
  const std::filesystem::path base = files.path() / "base.yml";
  const MaxTextConversion conversion = from_maxtext(std::span(&base, 1), {});
  EXPECT_EQ(conversion.config.task.model.get<int64_t>("lm_tpl.model_dims"), 2048);
  EXPECT_EQ(conversion.report.size(), 1U);  // the data, which is synthetic until it is set
}

TEST(MaxText, GlobalParameterScaleGivesTheSizesThatItNames) {
  const std::pair<int, double> sizes[] = {{1, 1.10}, {2, 2.08}, {4, 4.15}, {8, 8.05}, {16, 15.83}, {1024, 997}};
  for (const auto& [scale, billions] : sizes) {
    const MaxTextConversion conversion = convert({"global_parameter_scale=" + std::to_string(scale)});
    EXPECT_NEAR(static_cast<double>(count_params(conversion.config.task)) / 1e9, billions, 0.005 * billions + 0.005);
  }
  EXPECT_THAT(mistake({"global_parameter_scale=3"}), HasSubstr("power of two"));
}

TEST(MaxText, ArgumentsBecomeMembersAndTheReportSaysWhich) {
  const MaxTextConversion conversion =
      convert({"model_name=llama2-7b", "per_device_batch_size=4", "ici_fsdp_parallelism=8", "ici_tensor_parallelism=2",
               "steps=1000", "learning_rate=1e-4", "adam_b2=0.99", "remat_policy=save_out_proj", "sa_block_q=1024",
               "max_target_length=4096"});
  const ExperimentConfig& config = conversion.config;
  EXPECT_EQ(*config.input.get<std::optional<int64_t>>("batch_size"), 64);
  EXPECT_EQ(*config.input.get<std::optional<int64_t>>("seq_len"), 4096);
  EXPECT_EQ(config.task.train.num_train_steps, 1000);
  const auto optimizer = config.task.train.learner.get<Tpl<Optimizer>>("optimizer");
  EXPECT_EQ(optimizer.get<double>("learning_rate"), 1e-4);
  EXPECT_EQ(optimizer.get<double>("beta2"), 0.99);
  EXPECT_EQ(optimizer.get<int64_t>("lr_schedule.warmup_steps"), 100);
  EXPECT_EQ(config.task.model.get<std::optional<std::vector<int64_t>>>("ici_mesh_shape"),
            (std::vector<int64_t>{1, 8, 2}));
  ASSERT_NE(line_of(conversion, "adam_b2"), nullptr);
  EXPECT_EQ(line_of(conversion, "adam_b2")->verdict, "mapped");
  EXPECT_EQ(line_of(conversion, "sa_block_q")->verdict, "ignored");
  EXPECT_NO_THROW(validate_experiment(config));
}

TEST(MaxText, RefusesAllAtOnceWhatItCannotSay) {
  EXPECT_THAT(mistake({"quantization=int8", "steps=5", "use_indexer=true", "mtp_num_layers=1", "lerning_rate=1"}),
              AllOf(HasSubstr("quantization"), HasSubstr("use_indexer"), HasSubstr("mtp_num_layers"),
                    HasSubstr("lerning_rate"), HasSubstr("learning_rate"), Not(HasSubstr("steps:"))));
}

TEST(MaxText, ModelPresetIsNotOverriddenUnlessAsked) {
  EXPECT_THAT(mistake({"model_name=llama2-7b", "base_emb_dim=64"}), HasSubstr("override_model_config"));
  const auto config = convert({"model_name=llama2-7b", "base_emb_dim=64", "override_model_config=true"}).config;
  EXPECT_EQ(config.task.model.get<int64_t>("lm_tpl.model_dims"), 64);
  EXPECT_THAT(mistake({"model_name=llama2-8b"}), HasSubstr("llama2-7b"));
}

TEST(MaxText, FilesInheritAndArgumentsWin) {
  const TempDirectory files;
  write_file_atomically(files.path() / "base.yml", "steps: 10\nlearning_rate: 1e-3\nrun_name: None\n");
  write_file_atomically(files.path() / "mine.yml", "base_config: base.yml\nsteps: 20\n");
  const std::filesystem::path mine = files.path() / "mine.yml";
  const std::vector<std::string> arguments{"adam_eps=1e-6"};
  const auto config = from_maxtext(std::span(&mine, 1), arguments).config;
  const auto optimizer = config.task.train.learner.get<Tpl<Optimizer>>("optimizer");
  EXPECT_EQ(config.task.train.num_train_steps, 20);
  EXPECT_EQ(optimizer.get<double>("learning_rate"), 1e-3);
  EXPECT_EQ(optimizer.get<double>("epsilon"), 1e-6);
}

TEST(MaxText, WhatIsWrittenReadsBackAsTheSameModel) {
  const ExperimentConfig config = convert({"model_name=llama3-8b", "steps=100", "ici_fsdp_parallelism=4"}).config;
  const TempDirectory files;
  write_file_atomically(files.path() / "out.yml", to_maxtext(config));
  const std::filesystem::path out = files.path() / "out.yml";
  const std::vector<std::string> arguments{"rope_max_timescale=500000"};
  const ExperimentConfig again = from_maxtext(std::span(&out, 1), arguments).config;
  EXPECT_EQ(count_params(again.task), count_params(config.task));
  EXPECT_EQ(again.task.train.num_train_steps, 100);
}

TEST(MaxText, TableOfKeysIsTheOneInTheDocumentation) {
  const std::string documented = read_file(std::string(PAX_SOURCE_DIR) + "/docs/maxtext.md");
  EXPECT_THAT(documented, HasSubstr(maxtext_key_table())) << "paxml config convert --from maxtext --to table writes it";
}

}  // namespace
}  // namespace pax
