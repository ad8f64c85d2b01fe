#include "pax/interop/huggingface/hf_config.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "pax/base/error.h"
#include "pax/layers/activations.h"

namespace pax::hf {

using Json = nlohmann::json;

HfConfig::HfConfig(std::string_view text, std::string where) : where_(std::move(where)) {
  const auto shallow = [&](int depth, Json::parse_event_t, Json&) {
    if (depth > 20) pax::fail<ConfigError>("{}: nested too deeply", where_);
    return true;
  };
  try {
    json_ = std::make_shared<const Json>(Json::parse(text, shallow));
  } catch (const Json::exception& error) {
    pax::fail<ConfigError>("{}: is not valid JSON: {}", where_, error.what());
  }
  if (!json_->is_object()) pax::fail<ConfigError>("{}: is not a JSON object", where_);
  model_type_ = this->text("model_type", "");
}

HfConfig::HfConfig(const Json& object, std::string where)
    : json_(std::make_shared<const Json>(object)), where_(std::move(where)) {}

void HfConfig::fail(std::string_view key, std::string_view message) const {
  pax::fail<ConfigError>("{}: {}: {}", where_, key, message);
}

const Json* HfConfig::find(std::string_view key) const {
  const auto at = json_->find(std::string(key));
  return at == json_->end() || at->is_null() ? nullptr : &*at;
}

bool HfConfig::has(std::string_view key) const { return json_->contains(std::string(key)); }

std::string HfConfig::architecture() const {
  const std::vector<std::string> all = texts("architectures");
  return all.empty() ? "" : all[0];
}

bool HfConfig::flag(std::string_view key, bool otherwise) const {
  const Json* value = find(key);
  if (value == nullptr) return otherwise;
  if (!value->is_boolean()) fail(key, fmt::format("{} is not true or false", value->dump()));
  return value->get<bool>();
}

std::optional<int64_t> HfConfig::optional_size(std::string_view key) const {
  const Json* value = find(key);
  if (value == nullptr) return std::nullopt;
  const bool whole = value->is_number_integer() ||
                     (value->is_number_float() && std::floor(value->get<double>()) == value->get<double>());
  if (!whole || value->get<double>() < 1 || value->get<double>() > 0x1p40) {
    fail(key, fmt::format("{} is not a size", value->dump()));
  }
  return value->get<int64_t>();
}

int64_t HfConfig::size(std::string_view key, int64_t otherwise) const { return optional_size(key).value_or(otherwise); }

std::optional<double> HfConfig::optional_real(std::string_view key) const {
  const Json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_number()) fail(key, fmt::format("{} is not a number", value->dump()));
  return value->get<double>();
}

double HfConfig::real(std::string_view key, double otherwise) const { return optional_real(key).value_or(otherwise); }

std::string HfConfig::text(std::string_view key, std::string_view otherwise) const {
  const Json* value = find(key);
  if (value == nullptr) return std::string(otherwise);
  if (!value->is_string()) fail(key, fmt::format("{} is not a text", value->dump()));
  return value->get<std::string>();
}

std::vector<std::string> HfConfig::texts(std::string_view key) const {
  std::vector<std::string> out;
  const Json* value = find(key);
  if (value == nullptr) return out;
  if (!value->is_array()) fail(key, "is not a list of texts");
  for (const Json& item : *value) {
    if (!item.is_string()) fail(key, "is not a list of texts");
    out.push_back(item.get<std::string>());
  }
  return out;
}

std::vector<double> HfConfig::reals(std::string_view key) const {
  std::vector<double> out;
  const Json* value = find(key);
  if (value == nullptr) return out;
  if (!value->is_array()) fail(key, "is not a list of numbers");
  for (const Json& item : *value) {
    if (!item.is_number()) fail(key, "is not a list of numbers");
    out.push_back(item.get<double>());
  }
  return out;
}

std::vector<int64_t> HfConfig::ids(std::string_view key) const {
  const Json* value = find(key);
  if (value == nullptr) return {};
  const Json all = value->is_array() ? *value : Json::array({*value});
  std::vector<int64_t> out;
  for (const Json& item : all) {
    if (!item.is_number_integer()) fail(key, fmt::format("{} is not a token's id", item.dump()));
    out.push_back(item.get<int64_t>());
  }
  return out;
}

std::array<int64_t, 2> HfConfig::pair(std::string_view key, int64_t otherwise) const {
  const Json* value = find(key);
  if (value == nullptr || !value->is_array()) {
    const int64_t one = size(key, otherwise);
    return {one, one};
  }
  const std::vector<double> both = reals(key);
  if (both.size() != 2 || both[0] < 1 || both[1] < 1) fail(key, "is not a size or a pair of sizes");
  return {static_cast<int64_t>(both[0]), static_cast<int64_t>(both[1])};
}

int64_t HfConfig::count(std::string_view key, int64_t otherwise) const {
  const Json* value = find(key);
  return value != nullptr && value->is_object() ? static_cast<int64_t>(value->size()) : otherwise;
}

std::optional<HfConfig> HfConfig::object(std::string_view key) const {
  const Json* value = find(key);
  if (value == nullptr || value->empty()) return std::nullopt;
  if (!value->is_object()) fail(key, "is not an object");
  return HfConfig(*value, fmt::format("{}: {}", where_, key));
}

Tpl<Layer> activation(const HfConfig& config, std::string_view key, std::string_view name) {
  GELU::Config gelu;
  if (name == "gelu_new" || name == "gelu_pytorch_tanh" || name == "gelu_fast" || name == "gelu_accurate") return gelu;
  gelu.approximate = false;
  if (name == "gelu" || name == "gelu_python") return gelu;
  if (name == "relu") return ReLU::Config{};
  if (name == "relu2") return SquaredReLU::Config{};
  if (name == "relu6") return ReLU6::Config{};
  if (name == "silu" || name == "swish") return SiLU::Config{};
  if (name == "tanh") return Tanh::Config{};
  if (name == "sigmoid") return Sigmoid::Config{};
  if (name == "linear") return Identity::Config{};
  config.fail(key, fmt::format("activation \"{}\" is not supported; supported are gelu, gelu_new, gelu_pytorch_tanh, "
                               "gelu_fast, relu, relu2, relu6, silu, swish, tanh, sigmoid and linear",
                               name));
}

}  // namespace pax::hf
