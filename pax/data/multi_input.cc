#include "pax/data/multi_input.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "pax/base/error.h"
#include "pax/base/text.h"

namespace pax::data {
namespace {

/// The inner input, with the outer one's hosts, seed and role.
std::shared_ptr<Input> build_inner(const Tpl<Input>& given, const InputConfig& outer, const std::string& name) {
  Tpl<Input> inner = given.clone();
  inner.set("num_infeed_hosts", outer.num_infeed_hosts);
  inner.set("infeed_host_index", outer.infeed_host_index);
  inner.set("is_training", outer.is_training);
  if (outer.input_random_seed) inner.set("input_random_seed", *outer.input_random_seed);
  if (inner.get<std::string>("name").empty()) inner.set("name", name);
  return inner.build();
}

[[noreturn]] void fail_damaged(const std::string& name, const std::string& state) {
  fail<RuntimeError>("input {}: saved position \"{:.80}\" is damaged or of another kind of input", name, state);
}

}  // namespace

MultiInput::MultiInput(const Config& config) : Input(config), default_input_(config.default_input) {
  std::vector<std::string> names;
  for (const auto& [key, input] : config.input_to_params) {
    inputs_[key] = build_inner(input, config, join_path(config.name, key));
    names.push_back(key);
  }
  if (inputs_.empty()) fail<ConfigError>("input {}: input_to_params is empty", name());
  if (!default_input_.empty() && !inputs_.contains(default_input_)) {
    fail<ConfigError>("input {}: default_input \"{}\" is none of {}.{}", name(), default_input_, join(names, ", "),
                      did_you_mean(default_input_, names));
  }
}

BatchSpec MultiInput::spec() const {
  BatchSpec all;
  for (const auto& [key, input] : inputs_) {
    for (const auto& [field, type] : input->spec()) all.emplace(join_path(key, field), type);
  }
  return all;
}

std::optional<int64_t> MultiInput::num_batches() const {
  std::optional<int64_t> fewest;
  for (const auto& [key, input] : inputs_) {
    const std::optional<int64_t> batches = input->num_batches();
    if (batches) fewest = std::min(fewest.value_or(*batches), *batches);
  }
  return fewest;
}

const Tokenizer* MultiInput::tokenizer() const {
  return inputs_.at(default_input_.empty() ? inputs_.begin()->first : default_input_)->tokenizer();
}

std::optional<HostTree> MultiInput::produce() {
  HostTree all;
  for (const auto& [key, input] : inputs_) {
    std::optional<HostTree> batch = input->next();
    if (!batch) return std::nullopt;
    for (auto& [field, array] : *batch) all.emplace(join_path(key, field), std::move(array));
  }
  return all;
}

void MultiInput::rewind() {
  for (const auto& [key, input] : inputs_) input->reset();
}

std::string MultiInput::save_position() const {
  nlohmann::json state = nlohmann::json::object();
  for (const auto& [key, input] : inputs_) state[key] = input->save();
  return state.dump();
}

void MultiInput::restore_position(std::span<const std::string> states) {
  for (const auto& [key, input] : inputs_) {
    std::vector<std::string> inner;
    for (const std::string& text : states) {
      const nlohmann::json state = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
      if (!state.is_object() || !state.contains(key) || !state[key].is_string()) fail_damaged(name(), text);
      inner.push_back(state[key]);
    }
    input->restore(inner);
  }
}

LimitedInput::LimitedInput(const Config& config)
    : Input(config), input_(build_inner(config.input, config, config.name)), limit_(config.num_batches) {}

std::optional<int64_t> LimitedInput::num_batches() const {
  const std::optional<int64_t> all = input_->num_batches();
  if (!limit_) return all;
  return std::min(*limit_, all.value_or(*limit_));
}

std::optional<HostTree> LimitedInput::produce() {
  if (limit_ && taken_ >= *limit_) return std::nullopt;
  std::optional<HostTree> batch = input_->next();
  if (batch) ++taken_;
  return batch;
}

void LimitedInput::rewind() {
  input_->reset();
  taken_ = 0;
}

std::string LimitedInput::save_position() const {
  return nlohmann::json{{"taken", taken_}, {"input", input_->save()}}.dump();
}

void LimitedInput::restore_position(std::span<const std::string> states) {
  std::vector<std::string> inner;
  for (const std::string& text : states) {
    const nlohmann::json state = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (!state.is_object() || !state.contains("input") || !state["input"].is_string() ||
        !state["taken"].is_number_integer()) {
      fail_damaged(name(), text);
    }
    inner.push_back(state["input"]);
    taken_ = state["taken"];
  }
  input_->restore(inner);
}

}  // namespace pax::data

template const pax::config::ConfigType& pax::config::type_of<pax::data::MultiInput::Config>();
template const pax::config::ConfigType& pax::config::type_of<pax::data::LimitedInput::Config>();
