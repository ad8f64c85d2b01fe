#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>
#include <unordered_map>

#include "pax/base/error.h"
#include "pax/base/text.h"
#include "pax/config/errors.h"
#include "pax/config/yaml.h"
#include "pax/interop/fiddle/fiddle.h"

namespace pax {
namespace {

using config::Value;
using Json = nlohmann::json;

/// "module.name" of a reference to a Python object.
struct PythonName {
  std::string module, name;
  std::string full() const { return module + "." + name; }
  std::string last() const { return name.substr(name.rfind('.') + 1); }
};

class Reader {
 public:
  Reader(const Json& document, std::string_view source, size_t max_values)
      : source_(source), max_values_(max_values), objects_(member(document, "objects")) {
    if (!objects_.is_object()) fail_at("objects", "is no mapping");
  }

  Value read(const Json& root) { return value_of(root, "<root>"); }

 private:
  struct Known {
    Value value;
    size_t size = 0;
  };

  [[noreturn]] void fail_at(std::string_view path, std::string_view message) const {
    fail<ConfigError>("{}: {}: {}", source_, path, message);
  }

  const Json& member(const Json& node, const char* key) const {
    const auto at = node.is_object() ? node.find(key) : node.end();
    if (!node.is_object() || at == node.end()) fail_at("Fiddle JSON", fmt::format("\"{}\" is missing", key));
    return *at;
  }

  std::string text(const Json& node, const char* key) const {
    const Json& value = member(node, key);
    if (!value.is_string()) fail_at("Fiddle JSON", fmt::format("\"{}\" must be text", key));
    return value.get<std::string>();
  }

  PythonName python_name(const Json& node) const { return {text(node, "module"), text(node, "name")}; }

  /// A node: a leaf, a reference to a Python object, a reference to another node, or a container in place.
  Value value_of(const Json& node, const std::string& path) {
    const Json& type = member(node, "type");
    if (!type.is_string()) return container(node, path, 0);
    const std::string kind = type.get<std::string>();
    if (kind == "leaf") return count(scalar(member(node, "value"), path), 1, path);
    if (kind == "pyref") return count(Value::of(python_value(python_name(node))), 1, path);
    if (kind == "ref") return shared(text(node, "key"), path);
    fail_at(path, fmt::format("nodes of type \"{}\" are not known", kind));
  }

  Value count(Value value, size_t size, const std::string& path) {
    if ((values_ += size) > max_values_) fail_at(path, fmt::format("more than {} values", max_values_));
    return value;
  }

  Value scalar(const Json& value, const std::string& path) const {
    if (value.is_null()) return {};
    if (value.is_boolean()) return Value::of(value.get<bool>());
    if (value.is_number_integer()) return Value::of(value.get<int64_t>());
    if (value.is_number()) return Value::of(value.get<double>());
    if (value.is_string()) return Value::of(std::string_view(value.get_ref<const std::string&>()));
    fail_at(path, "a leaf must be a number, text, true, false or null");
  }

  /// Dtypes go by their last name, enumerators by their value, all else by its full name.
  static std::string python_value(const PythonName& name) {
    const bool is_number_type = name.module.starts_with("jax") || name.module.starts_with("numpy");
    const bool is_enumerator = name.name.find('.') != std::string::npos;
    if (is_number_type) return name.last();
    if (!is_enumerator) return name.full();
    std::string value = name.last();
    if (name.name.starts_with("AutodiffCheckpointType.")) return value;  // known here by both
    for (char& c : value) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return value;
  }

  Value shared(const std::string& key, const std::string& path) {
    if (const auto known = known_.find(key); known != known_.end()) {
      return count(known->second.value, known->second.size, path);
    }
    const auto at = objects_.find(key);
    if (at == objects_.end()) fail_at(path, fmt::format("refers to \"{}\", which is not there", key));
    if (!open_.insert(key).second) fail_at(path, fmt::format("\"{}\" contains itself", key));
    const size_t before = values_;
    const Value value = container(*at, path, ++last_anchor_);
    open_.erase(key);
    known_.emplace(key, Known{value, values_ - before});
    return value;
  }

  Value container(const Json& node, const std::string& path, int anchor) {
    if (++depth_ > 500) fail_at(path, "nested more than 500 deep");
    const Json& type = member(node, "type");
    const PythonName name = python_name(type);
    Value out;
    if (name.name == "list" || name.name == "tuple") {
      out = list(node, path);
    } else if (name.name == "dict" || name.name == "NestedMap") {
      out = mapping(node, path);
    } else if (name.name.ends_with("Config") || name.name.ends_with("Partial") || name.name.ends_with("Buildable")) {
      out = buildable(node, path, anchor);
    } else {
      fail_at(path, fmt::format("containers of type {} are not known", name.full()));
    }
    --depth_;
    return count(std::move(out), 1, path);
  }

  template <class Visit>
  void each_item(const Json& node, const std::string& path, Visit&& visit) {
    const Json& items = member(node, "items");
    if (!items.is_array()) fail_at(path, "\"items\" must be a list");
    for (const Json& item : items) {
      if (!item.is_array() || item.size() != 2 || !item[0].is_string()) {
        fail_at(path, "an item must be a pair of place and value");
      }
      visit(item[0].get_ref<const std::string&>(), item[1]);
    }
  }

  /// The x of "Attr(name='x')" and "Key(key='x')".
  std::string key_of(const std::string& place, const std::string& path) const {
    const size_t begin = place.find_first_of("'\""), end = place.find_last_of("'\"");
    if (begin == std::string::npos || end <= begin) fail_at(path, fmt::format("{} names no member", place));
    return place.substr(begin + 1, end - begin - 1);
  }

  Value list(const Json& node, const std::string& path) {
    Value out = Value::list();
    each_item(node, path, [&](const std::string&, const Json& item) {
      out.items.push_back(value_of(item, fmt::format("{}[{}]", path, out.items.size())));
    });
    return out;
  }

  Value mapping(const Json& node, const std::string& path) {
    Value out = Value::map();
    each_item(node, path, [&](const std::string& place, const Json& item) {
      const std::string key = key_of(place, path);
      if (out.find(key) != nullptr) fail_at(path, fmt::format("\"{}\" stands twice", key));
      out.add(key, value_of(item, path + "." + key));
    });
    return out;
  }

  Value buildable(const Json& node, const std::string& path, int anchor) {
    const PythonName target = target_of(member(node, "metadata"), path);
    Value members = mapping(node, path);
    const std::string last = target.last();
    if (last == "WeightSharding" || last == "ActivationSharding") return splits(members);
    if (last == "WeightInit") return members;
    Value out = Value::map();
    out.add("__class__", Value::of(target.full()));
    out.anchor = anchor;
    for (size_t i = 0; i < members.keys.size(); ++i) {
      if (members.keys[i] == "params_init" && is_unset_init(members.items[i])) continue;
      out.add(std::move(members.keys[i]), std::move(members.items[i]));
    }
    return out;
  }

  /// What the buildable builds, from its metadata.
  PythonName target_of(const Json& metadata, const std::string& path) {
    const Json* node = &metadata;
    if (node->is_object() && node->value("type", Json()) == "ref") {
      const auto at = objects_.find(text(*node, "key"));
      if (at == objects_.end()) fail_at(path, "its metadata is missing");
      node = &*at;
    }
    PythonName target;
    each_item(*node, path, [&](const std::string& place, const Json& item) {
      if (key_of(place, path) == "fn_or_cls") target = python_name(item);
    });
    if (target.name.empty()) fail_at(path, "its metadata names no class");
    return target;
  }

  /// Praxis writes -1 for a dimension that is not split, and null where nothing is said.
  static Value splits(const Value& members) {
    Value out = Value::map();
    for (size_t i = 0; i < members.keys.size(); ++i) {
      if (members.items[i].is_null()) continue;
      Value split = members.items[i];
      for (Value& dim : split.items) {
        if (dim.kind == Value::Kind::kInt) dim = {};
      }
      out.add(members.keys[i], std::move(split));
    }
    return out;
  }

  /// Praxis marks an initializer that was not set by this scale.
  static bool is_unset_init(const Value& init) {
    const Value* method = init.find("method");
    const Value* scale = init.find("scale");
    return method != nullptr && scale != nullptr && method->text == "xavier" && scale->real == 1.000001;
  }

  const std::string source_;
  const size_t max_values_;
  const Json& objects_;
  std::unordered_map<std::string, Known> known_;
  std::set<std::string> open_;
  size_t values_ = 0;
  int depth_ = 0;
  int last_anchor_ = 0;
};

using Unknown = std::vector<std::pair<std::string, std::string>>;  // path, class

bool is_known(const config::Registry& registry, const std::string& name) {
  try {
    registry.find(name);
    return true;
  } catch (const ConfigError&) {
    return false;
  }
}

void find_unknown(const Value& value, const std::string& path, const config::Registry& registry, Unknown& out) {
  if (const Value* name = value.find("__class__"); name != nullptr && !is_known(registry, name->text)) {
    out.emplace_back(path, name->text);
  }
  for (size_t i = 0; i < value.items.size(); ++i) {
    const std::string part = value.is_map() ? value.keys[i] : fmt::format("[{}]", i);
    if (!value.items[i].items.empty()) {
      find_unknown(value.items[i], config::join_config_path(path, part), registry, out);
    }
  }
}

/// The mistakes of reading the whole, and unknown classes that stand inside of unknown classes.
void add_hidden_classes(config::Errors& errors, const Unknown& unknown) {
  const auto reported = [&](const std::string& path) {
    for (const std::string& message : errors.messages()) {
      if (message.starts_with(path + ":") || message.starts_with(path + " ")) return true;
    }
    return false;
  };
  std::vector<std::string> roots;
  for (const auto& [path, name] : unknown) {
    if (reported(path)) {
      roots.push_back(path);
      continue;
    }
    for (const std::string& root : roots) {
      if (!path.starts_with(root + ".") && !path.starts_with(root + "[")) continue;
      errors.add(path, fmt::format("no class {} is known", name));
      break;
    }
  }
}

/// The axes of the batch dimension, as Paxml's inputs_split_mapping has them.
std::vector<std::string> batch_split(const Value& mapping) {
  std::vector<std::string> axes;
  const Value* rows = mapping.find("map_1d");
  if (rows == nullptr || rows->items.empty()) return axes;
  const Value& first = rows->items[0];
  if (first.kind == Value::Kind::kString) return {first.text};
  for (const Value& axis : first.items) {
    if (axis.kind == Value::Kind::kString) axes.push_back(axis.text);
  }
  return axes;
}

}  // namespace

config::Value read_fiddle(std::string_view json, std::string_view source, size_t max_values) {
  if (json.size() > 200'000'000) fail<ConfigError>("{}: more than 200 MB", source);
  if (!is_utf8(json)) fail<ConfigError>("{}: is not well-formed UTF-8", source);
  Json document;
  try {
    document = Json::parse(json);
  } catch (const Json::exception& error) {
    fail<ConfigError>("{}: is not JSON: {}", source, error.what());
  }
  if (!document.is_object() || !document.contains("root") || !document.contains("objects")) {
    fail<ConfigError>("{}: is no Fiddle JSON: it needs \"root\" and \"objects\"", source);
  }
  return Reader(document, source, max_values).read(document["root"]);
}

SingleTask task_from_fiddle(std::string_view json, std::string_view source, const config::Registry& registry) {
  const config::Value value = read_fiddle(json, source);
  config::Errors errors;
  errors.source = source;
  SingleTask task;
  config::update(task, value, registry, errors);
  Unknown unknown;
  find_unknown(value, "", registry, unknown);
  add_hidden_classes(errors, unknown);
  errors.throw_if_any();
  if (task.train.batch_split.empty()) task.train.batch_split = batch_split(task.train.inputs_split_mapping);
  return task;
}

}  // namespace pax
