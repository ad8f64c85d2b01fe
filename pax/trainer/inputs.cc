#include "pax/trainer/inputs.h"

#include <fmt/format.h>

#include "pax/base/error.h"

namespace pax {
namespace {

/// A text input that keeps a part for evaluation says so in this field.
constexpr const char* kHeldOutField = "eval_every";
constexpr const char* kHeldOutName = "held_out";

bool holds_back(const Tpl<data::Input>& input) { return input && input.get_or<int64_t>(kHeldOutField, 0) > 0; }

}  // namespace

std::shared_ptr<data::Input> build_train_input(const ExperimentConfig& config) {
  if (!config.input) fail<ConfigError>("input: required; set what the model trains on");
  Tpl<data::Input> input = config.input.clone();
  input.set("is_training", true);
  return input.build();
}

std::vector<std::shared_ptr<data::Input>> build_eval_inputs(const ExperimentConfig& config) {
  std::vector<std::shared_ptr<data::Input>> inputs;
  for (size_t i = 0; i < config.eval_inputs.size(); ++i) {
    Tpl<data::Input> input = config.eval_inputs[i].clone();
    input.set("is_training", false);
    if (input.get<std::string>("name").empty()) input.set("name", fmt::format("eval_{}", i));
    inputs.push_back(input.build());
  }
  if (!inputs.empty() || !config.eval_on_held_out || !holds_back(config.input)) return inputs;
  Tpl<data::Input> input = config.input.clone();
  input.set("is_training", false);
  input.set("name", kHeldOutName);
  input.set("reset_for_eval", true);
  input.set("eval_loop_num_batches", -1);
  inputs.push_back(input.build());
  return inputs;
}

std::shared_ptr<const data::Tokenizer> build_tokenizer(const ExperimentConfig& config) {
  std::vector<Tpl<data::Input>> inputs{config.input};
  inputs.insert(inputs.end(), config.eval_inputs.begin(), config.eval_inputs.end());
  for (const Tpl<data::Input>& input : inputs) {
    if (!input) continue;
    const auto tokenizer = input.get_or<Tpl<data::Tokenizer>>("tokenizer", nullptr);
    if (tokenizer) return tokenizer.build();
  }
  for (const Tpl<data::Input>& input : inputs) {
    if (!input) continue;
    const std::shared_ptr<data::Input> opened = input.build();
    if (opened->tokenizer() != nullptr) return {opened, opened->tokenizer()};
  }
  fail<ConfigError>("input: it has no tokenizer; set input.tokenizer to the one that the model was trained with");
}

int64_t vocabulary_size(const ExperimentConfig& config) {
  return config.task.model.get_or<int64_t>("lm_tpl.vocab_size", 0);
}

}  // namespace pax
