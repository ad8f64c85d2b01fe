#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "pax/data/mix_schedule.h"
#include "pax/data/preprocessors.h"
#include "pax/data/seqio_input.h"
#include "tests/data/input_testing.h"
#include "tests/data/task_testing.h"

// What the real SeqIO, T5 and Paxml made of the same records (tools/record_seqio.py): the batches must be equal.

namespace pax::data {
namespace {

using nlohmann::json;

json fixture() { return json::parse(read_file(PAX_SOURCE_DIR "/tests/data/seqio_cases.json")); }

Tpl<Preprocessor> preprocessor(const std::string& name) {
  if (name == "append_eos") return AppendEos::Config{};
  return AppendEosAfterTrim::Config{};
}

Tpl<FeatureConverter> converter(const json& test) {
  const json& arguments = test.at("arguments");
  if (test.at("converter") == "SequenceModelFeatures") {
    SequenceModelFeatures::Config config;
    config.pack = arguments.value("pack", false);
    return config;
  }
  LanguageModelFeatures::Config config;
  config.pack = arguments.value("pack", false);
  config.bos_id = arguments.value("bos_id", int64_t{0});
  config.eos_id = arguments.value("eos_id", int64_t{1});
  config.reverse_bos_padding = arguments.value("reverse_bos_padding", false);
  if (arguments.contains("weights_on_targets_only")) {
    config.weights_on_targets_only = arguments.at("weights_on_targets_only").get<bool>();
  }
  return config;
}

SeqIOInput::Config input_config(const json& records, const json& test) {
  std::vector<Example> examples;
  for (const json& record : records) {
    Example example;
    example.set("targets", record.at("targets").get<Ints>());
    if (test.at("with_inputs")) example.set("inputs", record.at("inputs").get<Ints>());
    examples.push_back(std::move(example));
  }
  GivenSource::Config source;
  source.examples = std::make_shared<const std::vector<Example>>(std::move(examples));
  Task::Config task;
  task.name = "recorded";
  task.splits = {{"train", source}};
  for (const json& name : test.at("preprocessors")) task.preprocessors.push_back(preprocessor(name));
  task.output_features["targets"] = OutputFeature{};
  if (test.at("with_inputs")) task.output_features["inputs"] = OutputFeature{};
  SeqIOInput::Config config;
  config.name = "recorded";
  config.mixture_or_task = task;
  config.split_name = "train";
  config.task_feature_lengths = test.at("lengths").get<FeatureLengths>();
  config.feature_converter = converter(test);
  config.batch_size = 4;
  config.shuffle = false;
  config.repeat = false;
  config.is_training = test.at("is_training");
  config.reset_for_eval = !config.is_training;
  config.num_streams = 1;
  config.annotate_padding_fields = false;  // as Paxml has it unless told otherwise
  config.num_workers = 0;
  return config;
}

std::string difference(const HostTree& batch, const json& expected) {
  for (const auto& [name, values] : expected.items()) {
    const auto found = batch.find(name);
    if (found == batch.end()) return "no field " + name;
    std::vector<double> flat;
    const bool rows = !values.empty() && values[0].is_array();
    for (const json& row : values) {
      if (!rows) flat.push_back(row.get<double>());
      for (const json& value : rows ? row : json::array()) flat.push_back(value.get<double>());
    }
    if (found->second.to_doubles() != flat) {
      return name + " is " + json(found->second.to_doubles()).dump() + " but " + json(flat).dump() + " is expected";
    }
  }
  for (const auto& [name, array] : batch) {
    if (!expected.contains(name) && name != "eval_sample_weights") return "field " + name + " is too much";
  }
  return "";
}

TEST(RealSeqIO, BatchesAreEqual) {
  const json all = fixture();
  for (const json& test : all.at("inputs")) {
    SeqIOInput input(input_config(all.at("records"), test));
    const std::vector<HostTree> batches = take_all(input);
    const std::string name = test.at("name");
    EXPECT_EQ(batches.size(), test.at("batches").size()) << name;
    for (size_t i = 0; i < std::min(batches.size(), test.at("batches").size()); ++i) {
      const std::string message = difference(batches[i], test.at("batches")[i]);
      EXPECT_EQ(message, "") << name << ", batch " << i;
      if (!message.empty()) break;
    }
  }
}

TEST(RealT5, SentinelsStandForSpans) {
  const json all = fixture();
  for (const json& test : all.at("spans").at("sentinels")) {
    const Ints ids = test.at("ids").get<Ints>();
    const auto noise = test.at("noise").get<std::vector<bool>>();
    EXPECT_EQ(with_sentinels(ids, noise, true, 358), test.at("inputs").get<Ints>()) << test.dump();
    EXPECT_EQ(with_sentinels(ids, noise, false, 358), test.at("targets").get<Ints>()) << test.dump();
  }
}

TEST(RealT5, AsManyNoiseTokensAndSpansForEveryLength) {
  const json all = fixture();
  for (const json& test : all.at("spans").at("counts")) {
    const std::vector<bool> noise = random_spans(test.at("length"), test.at("noise_density"), test.at("mean"), 7);
    int64_t spans = 0;
    for (size_t i = 0; i < noise.size(); ++i) spans += noise[i] && (i == 0 || !noise[i - 1]) ? 1 : 0;
    EXPECT_EQ(std::ranges::count(noise, true), test.at("noise").get<int64_t>()) << test.dump();
    EXPECT_EQ(spans, test.at("spans").get<int64_t>()) << test.dump();
    EXPECT_EQ(!noise.front(), test.at("begins_clean").get<bool>()) << test.dump();
  }
}

TEST(RealSeqIO, MixtureRatesAreEqual) {
  const json all = fixture();
  for (const json& test : all.at("rates")) {
    const auto sizes = test.at("sizes").get<std::vector<int64_t>>();
    const double maximum = test.at("maximum").is_null() ? INFINITY : test.at("maximum").get<double>();
    for (size_t i = 0; i < sizes.size(); ++i) {
      EXPECT_NEAR(mixing_rate(static_cast<double>(sizes[i]), maximum, test.at("temperature")),
                  test.at("rates")[i].get<double>(), 1e-9)
          << test.dump();
    }
  }
}

}  // namespace
}  // namespace pax::data
