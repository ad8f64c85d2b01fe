// A Hugging Face folder becomes a run, is fine-tuned from the YAML experiment, and goes back.

#include <gmock/gmock.h>

#include <fstream>
#include <random>

#include "pax/base/files.h"
#include "pax/experiments/load.h"
#include "pax/experiments/registry.h"
#include "pax/interop/huggingface/import.h"
#include "pax/trainer/train.h"

namespace pax::hf {
namespace {

namespace fs = std::filesystem;

constexpr const char* kConfig = R"({"model_type": "llama", "architectures": ["LlamaForCausalLM"], "vocab_size": 320,
  "hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2, "num_attention_heads": 2,
  "num_key_value_heads": 1, "max_position_embeddings": 32, "tie_word_embeddings": true, "torch_dtype": "float32"})";

class FineTune : public ::testing::Test {
 protected:
  FineTune() {
    fs::create_directories(model());
    std::ofstream(model() / "config.json") << kConfig;
    const ModelPlan plan = plan_of(HfConfig(kConfig, "config.json"));
    std::mt19937 random(3);
    std::normal_distribution<double> normal(0, 0.1);
    HostTree variables;
    const Tree<TensorType> types = variables_of(plan.model);
    for (const auto& [name, type] : types) {
      std::vector<double> values(static_cast<size_t>(type.shape.num_elements()));
      for (double& value : values) value = normal(random) + (name.ends_with("scale") ? 1 : 0);
      variables[name] = from_doubles(values, type);
    }
    write_weight_files(model(), export_weights(weight_map(plan, types), variables), 1u << 30);
    std::ofstream text(files_.path() / "train.txt");
    for (int i = 0; i < 600; ++i) text << "the quick brown fox jumps over the lazy dog " << i << "\n";
  }

  fs::path model() const { return files_.path() / "model"; }
  fs::path run() const { return files_.path() / "run"; }
  fs::path tuned() const { return files_.path() / "tuned"; }
  fs::path out() const { return files_.path() / "out"; }

  void import(int64_t lora_rank) {
    import_folder(
        {.folder = model(), .out = run(), .data = (files_.path() / "train.txt").string(), .lora_rank = lora_rank});
  }

  /// Trains by the written experiment; gives the tensors of the export.
  HostTree train_and_export(int steps) {
    const LoadedExperiment loaded =
        load_experiment({.file = run() / "experiment.yaml",
                         .overrides = {"task.train.num_train_steps=" + std::to_string(steps),
                                       "task.train.learner.optimizer.learning_rate=0.01",
                                       "task.train.eval_interval_steps=0", "input.batch_size=2"}},
                        make_registry());
    train(loaded.config, {.job_log_dir = tuned(), .extra_files = {}});
    export_folder({.run = tuned(), .out = out()});
    return read_safetensors(out() / "model.safetensors");
  }

  TempDirectory files_;
};

TEST_F(FineTune, WithoutAStepTheModelComesBackBitForBit) {
  import(0);
  export_folder({.run = run(), .out = out()});
  const HostTree before = read_safetensors(model() / "model.safetensors");
  const HostTree after = read_safetensors(out() / "model.safetensors");
  ASSERT_EQ(after.size(), before.size());
  for (const auto& [name, array] : before) {
    EXPECT_TRUE(std::ranges::equal(after.at(name).bytes(), array.bytes())) << name;
  }
  EXPECT_EQ(read_file(out() / "config.json"), read_file(model() / "config.json"));
}

TEST_F(FineTune, TrainsEveryTensorFromTheImportedWeights) {
  import(0);
  const HostTree before = read_safetensors(model() / "model.safetensors");
  const HostTree after = train_and_export(3);
  ASSERT_EQ(after.size(), before.size());
  for (const auto& [name, array] : before) {
    const std::vector<double> a = array.to_doubles(), b = after.at(name).to_doubles();
    double change = 0;
    for (size_t i = 0; i < a.size(); ++i) change = std::max(change, std::abs(a[i] - b[i]));
    EXPECT_GT(change, 0) << name;
    EXPECT_LT(change, 0.1) << name;  // three steps of 0.01 from where it was
  }
  EXPECT_THAT(read_file(tuned() / "init_from_checkpoint.txt"), ::testing::HasSubstr("mdl_vars/params/lm/softmax/w"));
}

TEST_F(FineTune, LowRankAdditionsChangeTheAttentionProjectionsOnly) {
  import(2);
  const HostTree before = read_safetensors(model() / "model.safetensors");
  const HostTree after = train_and_export(3);
  ASSERT_EQ(after.size(), before.size());
  for (const auto& [name, array] : before) {
    const bool same = std::ranges::equal(after.at(name).bytes(), array.bytes());
    EXPECT_EQ(same, name.find("self_attn") == std::string::npos) << name;
  }
}

}  // namespace
}  // namespace pax::hf
