#include "pax/interop/maxtext/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "pax/base/error.h"
#include "pax/base/files.h"
#include "pax/base/text.h"
#include "pax/config/yaml.h"
#include "pax/interop/maxtext/tables.h"

namespace pax::maxtext {
namespace {

using config::Value;

/// YAML 1.1 reads 1e-6 as text, and MaxText makes a number of it; None in any case is null.
Value read_value(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  if (text.empty() || lower == "none" || lower == "null") return {};
  try {
    return config::read_yaml(text);
  } catch (const ConfigError&) {
    return Value::of(text);
  }
}

Value normal(Value value) {
  if (value.kind == Value::Kind::kString && value.text.empty()) return {};
  if (value.kind == Value::Kind::kString) return read_value(value.text);
  return value;
}

bool same(const Value& a, const Value& b) {
  if (a.kind != b.kind && a.is_scalar() && b.is_scalar()) {
    const bool numbers = (a.kind == Value::Kind::kInt || a.kind == Value::Kind::kReal) &&
                         (b.kind == Value::Kind::kInt || b.kind == Value::Kind::kReal);
    return numbers && a.real == b.real;
  }
  return a == b;
}

/// A cell of models.tsv without what is said beside the value: "0 (base)".
std::string cell_value(const std::string& cell) {
  const size_t space = cell.find(" (");
  const std::string text = cell.substr(0, space);
  return text == "-" || cell.ends_with("(base)") ? "" : text;
}

/// Columns of models.tsv and the keys they set.
constexpr std::pair<const char*, const char*> kColumns[] = {{"decoder_block", "decoder_block"},
                                                            {"emb", "base_emb_dim"},
                                                            {"layers", "base_num_decoder_layers"},
                                                            {"q_heads", "base_num_query_heads"},
                                                            {"kv_heads", "base_num_kv_heads"},
                                                            {"head_dim", "head_dim"},
                                                            {"mlp", "base_mlp_dim"},
                                                            {"vocab", "vocab_size"},
                                                            {"norm_eps", "normalization_layer_epsilon"},
                                                            {"tied_head", "logits_via_embedding"},
                                                            {"rope_type", "rope_type"},
                                                            {"rope_theta", "rope_max_timescale"},
                                                            {"attention_type", "attention_type"},
                                                            {"window", "sliding_window_size"},
                                                            {"qk_norm", "use_qk_norm"},
                                                            {"experts", "num_experts"},
                                                            {"top_k", "num_experts_per_tok"},
                                                            {"moe_mlp", "base_moe_mlp_dim"},
                                                            {"shared_experts", "shared_experts"},
                                                            {"dense_first", "first_num_dense_layers"},
                                                            {"q_lora", "q_lora_rank"},
                                                            {"kv_lora", "kv_lora_rank"},
                                                            {"qk_nope", "qk_nope_head_dim"},
                                                            {"qk_rope", "qk_rope_head_dim"},
                                                            {"v_dim", "v_head_dim"},
                                                            {"attn_cap", "attn_logits_soft_cap"},
                                                            {"logit_cap", "final_logits_soft_cap"},
                                                            {"dropout_on", "enable_dropout"}};

}  // namespace

std::vector<std::vector<std::string>> read_table(std::string_view text) {
  std::vector<std::vector<std::string>> rows;
  for (const std::string& line : split(text, '\n')) {
    if (!line.empty()) rows.push_back(split(line, '\t'));
  }
  return rows;
}

const std::map<std::string, Key, std::less<>>& keys() {
  static const auto all = [] {
    std::map<std::string, Key, std::less<>> out;
    for (const std::string_view table : {kKeysTable, kExtraKeysTable}) {
      for (const auto& row : read_table(table)) {
        if (row.size() < 5 || row[0] == "key") continue;
        out[row[0]] = {row[0], row[1], static_cast<Treatment>(row[3][0]), row[4]};
      }
    }
    return out;
  }();
  return all;
}

const std::map<std::string, ModelRow, std::less<>>& models() {
  static const auto all = [] {
    std::map<std::string, ModelRow, std::less<>> out;
    const auto rows = read_table(kModelsTable);
    for (size_t r = 1; r < rows.size(); ++r) {
      ModelRow& model = out[rows[r][0]];
      for (size_t c = 0; c < std::min(rows[0].size(), rows[r].size()); ++c) model[rows[0][c]] = rows[r][c];
    }
    return out;
  }();
  return all;
}

std::optional<int64_t> topology_devices(std::string_view name) {
  for (const auto& row : read_table(kTopologiesTable)) {
    if (row.size() < 6 || row[0] != name) continue;
    int64_t devices = 0;
    std::from_chars(row[5].data(), row[5].data() + row[5].size(), devices);
    return devices;
  }
  return std::nullopt;
}

Settings::Settings(std::span<const std::filesystem::path> files, std::span<const std::string> arguments,
                   config::Errors& errors) {
  for (const auto& [name, key] : keys()) values_[name] = normal(read_value(key.default_text));
  for (const auto& file : files) read_file(file, 0, errors);
  std::vector<std::pair<std::string, Value>> given;
  for (const std::string& argument : arguments) {
    const size_t equals = argument.find('=');
    if (equals == std::string::npos) {
      errors.add("", fmt::format("{}: an argument is key=value", argument));
      continue;
    }
    given.emplace_back(argument.substr(0, equals), read_value(std::string_view(argument).substr(equals + 1)));
    auto& [key, value] = given.back();
    value.line = 0;
    if (key == "model_name" || key == "override_model_config") set(key, value, "argument", errors);
  }
  if (const std::string model = text("model_name"); model != "default") apply_model(model, errors);
  for (auto& [key, value] : given) {
    const auto now = values_.find(key);
    if (from_model_.contains(key) && !flag("override_model_config") && now != values_.end() &&
        !same(now->second, normal(value))) {
      errors.add(key,
                 fmt::format("the model preset {} sets it too; add override_model_config=true", text("model_name")));
    }
    set(key, std::move(value), "argument", errors);
  }
}

void Settings::set(const std::string& key, Value value, std::string_view from, config::Errors& errors) {
  const auto at = values_.find(key);
  if (at != values_.end()) {
    at->second = normal(std::move(value));
    return;
  }
  std::vector<std::string> names;
  for (const auto& [name, _] : keys()) names.push_back(name);
  errors.add(key, fmt::format("MaxText has no such key ({}).{}", from, did_you_mean(key, names)), value.line);
}

void Settings::read_file(const std::filesystem::path& file, int depth, config::Errors& errors) {
  if (depth > 20) fail<ConfigError>("{}: base_config goes more than 20 files up", file.string());
  const Value value = config::read_yaml(pax::read_file(file), file.string());
  if (value.is_null()) return;
  if (!value.is_map()) fail<ConfigError>("{}: must be a mapping but is {}", file.string(), config::describe(value));
  if (const Value* parent = value.find("base_config"); parent != nullptr && !parent->is_null()) {
    read_file(file.parent_path() / parent->text, depth + 1, errors);
  }
  errors.source = file.string();
  for (size_t i = 0; i < value.keys.size(); ++i) {
    if (value.keys[i] != "base_config") set(value.keys[i], value.items[i], file.string(), errors);
  }
}

void Settings::apply_model(const std::string& asked, config::Errors& errors) {
  std::string name = asked;
  if (name.ends_with("-Instruct")) name.resize(name.size() - 9);
  const auto found = models().find(name);
  if (found == models().end()) {
    std::vector<std::string> names;
    for (const auto& [model, _] : models()) names.push_back(model);
    errors.add("model_name", fmt::format("MaxText has no model {}.{}", asked, did_you_mean(name, names)));
    return;
  }
  const ModelRow& row = found->second;
  const auto apply = [&](const std::string& key, std::string_view cell) {
    from_model_.insert(key);
    set(key, read_value(cell), "models.tsv", errors);
  };
  for (const auto& [column, key] : kColumns) {
    const auto cell = row.find(column);
    if (cell == row.end()) continue;
    if (const std::string value = cell_value(cell->second); !value.empty()) apply(key, value);
  }
  if (const auto act = row.find("mlp_act"); act != row.end() && !cell_value(act->second).empty()) {
    Value list = Value::list();
    for (const std::string& part : split(cell_value(act->second), '*'))
      list.items.push_back(Value::of(std::string_view(part)));
    from_model_.insert("mlp_activations");
    set("mlp_activations", list, "models.tsv", errors);
  }
  if (const auto other = row.find("other_keys"); other != row.end() && other->second != "-") {
    for (const std::string& pair : split(other->second, ';')) {
      const size_t equals = pair.find('=');
      if (equals != std::string::npos) apply(pair.substr(0, equals), std::string_view(pair).substr(equals + 1));
    }
  }
}

const Value& Settings::value(std::string_view key) const {
  const auto at = values_.find(key);
  if (at == values_.end()) fail<ConfigError>("{}: MaxText has no such key", key);
  return at->second;
}

int64_t Settings::integer(std::string_view key) const {
  const Value& v = value(key);
  if (v.kind == Value::Kind::kReal) return static_cast<int64_t>(std::clamp(v.real, -9e18, 9e18));
  return v.integer;
}

double Settings::number(std::string_view key) const {
  const Value& v = value(key);
  return v.kind == Value::Kind::kInt ? static_cast<double>(v.integer) : v.real;
}

bool Settings::flag(std::string_view key) const { return value(key).boolean; }

std::string Settings::text(std::string_view key) const {
  const Value& v = value(key);
  return v.is_null() ? "" : v.kind == Value::Kind::kString ? v.text : config::to_json(v);
}

std::vector<std::string> Settings::list(std::string_view key) const {
  const Value& v = value(key);
  std::vector<std::string> out;
  if (v.kind == Value::Kind::kString) out.push_back(v.text);
  for (const Value& item : v.items) out.push_back(item.text);
  return out;
}

bool Settings::is_changed(std::string_view key) const {
  const auto known = keys().find(key);
  return known != keys().end() && !same(value(key), normal(read_value(known->second.default_text)));
}

}  // namespace pax::maxtext
