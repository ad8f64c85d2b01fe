#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "pax/config/access.h"
#include "pax/config/compare.h"
#include "pax/config/config.h"
#include "pax/interop/fiddle/fiddle.h"

namespace pax {
namespace {

using config::AnyTpl;
using config::ConfigType;
using config::FieldKind;
using config::Slot;
using Json = nlohmann::ordered_json;

Json pyref(std::string_view module, std::string_view name) {
  return {{"type", "pyref"}, {"module", module}, {"name", name}};
}

/// A dotted name as Python imports it: the module ends before the first part that begins with a capital.
Json pyref(std::string_view dotted) {
  size_t begin = 0;
  while (begin < dotted.size() && (dotted[begin] < 'A' || dotted[begin] > 'Z')) {
    const size_t dot = dotted.find('.', begin);
    if (dot == std::string_view::npos) break;
    begin = dot + 1;
  }
  return begin == 0 ? pyref("builtins", dotted) : pyref(dotted.substr(0, begin - 1), dotted.substr(begin));
}

/// The class's name with the most modules: what praxis.layers re-exports is not all there is.
std::string_view python_name(const ConfigType& type) {
  const auto dots = [](std::string_view name) { return std::count(name.begin(), name.end(), '.'); };
  std::string_view best = type.name;
  for (const std::string_view alias : type.aliases) {
    if (dots(alias) > dots(best)) best = alias;
  }
  return best;
}

Json reference_to(const std::string& key) { return {{"type", "ref"}, {"key", key}}; }
Json empty_tuple() { return {{"type", pyref("builtins", "tuple")}, {"items", Json::array()}, {"metadata", nullptr}}; }

/// Enumerations that are enumerations in Python too; all others are texts there.
const std::pair<std::string_view, std::string_view> kPythonEnums[] = {
    {"pax::AutodiffCheckpointType", "praxis.layers.checkpoint_policy.AutodiffCheckpointType"},
    {"pax::LanguageModelType", "praxis.layers.transformer_models.LanguageModelType"}};

/// A template of experts that Praxis 1.4 does not have yet.
constexpr std::string_view kNewMember = "einsum_gated_tpl";

std::string upper(std::string text) {
  for (char& c : text) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return text;
}

class Writer {
 public:
  std::string write(const SingleTask& task) {
    const auto& type = config::type_of<SingleTask>();
    const Json root = object(type, const_cast<SingleTask*>(&task), "<root>");
    Json document;
    document["root"] = root;
    document["objects"] = std::move(objects_);
    document["refcounts"] = std::move(refcounts_);
    document["version"] = "0.0.1";
    return document.dump();
  }

 private:
  Json leaf(Json value, const std::string& path) {
    return {{"type", "leaf"}, {"value", std::move(value)}, {"paths", {path}}};
  }

  /// Adds a container to the table and returns the reference to it.
  Json add(const std::string& stem, Json container) {
    std::string key = fmt::format("{}_{}", stem, ++numbers_[stem]);
    objects_[key] = std::move(container);
    refcounts_[key] = 1;
    return reference_to(key);
  }

  Json list(Json items, const std::string& path) {
    for (size_t i = 0; i < items.size(); ++i) items[i] = Json::array({fmt::format("Index(index={})", i), items[i]});
    return add(
        "list",
        {{"type", pyref("builtins", "list")}, {"items", std::move(items)}, {"metadata", nullptr}, {"paths", {path}}});
  }

  Json dict(const Json& members, const std::string& path) {
    Json items = Json::array();
    Json keys = empty_tuple();
    for (const auto& [key, value] : members.items()) {
      items.push_back(Json::array({fmt::format("Key(key='{}')", key), value}));
      keys["items"].push_back(Json::array({fmt::format("Index(index={})", keys["items"].size()), key}));
    }
    return add("dict", {{"type", pyref("builtins", "dict")},
                        {"items", std::move(items)},
                        {"metadata", std::move(keys)},
                        {"paths", {path}}});
  }

  Json buildable(Json target, const Json& members, const std::string& path) {
    Json items = Json::array();
    Json names = empty_tuple();
    for (const auto& [key, value] : members.items()) {
      items.push_back(Json::array({fmt::format("Attr(name='{}')", key), value}));
      names["items"].push_back(Json::array({fmt::format("Index(index={})", names["items"].size()), key}));
    }
    const auto none = [&] {
      return add("dict", {{"type", pyref("builtins", "dict")}, {"items", Json::array()}, {"metadata", empty_tuple()}});
    };
    const Json names_ref = names["items"].empty() ? names : add("tuple", std::move(names));
    Json metadata_items = Json::array();
    metadata_items.push_back(Json::array({"Attr(name='fn_or_cls')", std::move(target)}));
    metadata_items.push_back(Json::array({"Attr(name='argument_names')", names_ref}));
    metadata_items.push_back(Json::array({"Attr(name='argument_tags')", none()}));
    metadata_items.push_back(Json::array({"Attr(name='argument_history')", none()}));
    const Json kind = pyref("fiddle._src.config", "BuildableTraverserMetadata");
    const Json metadata =
        add("buildable_traverser_metadata", {{"type", kind}, {"items", std::move(metadata_items)}, {"metadata", kind}});
    return add("config", {{"type", pyref("praxis.pax_fiddle", "PaxConfig")},
                          {"items", std::move(items)},
                          {"metadata", metadata},
                          {"paths", {path}}});
  }

  /// A config or record: what differs from the defaults, and what Python has no plain default for.
  Json object(const ConfigType& type, void* data, const std::string& path) {
    const std::shared_ptr<void> defaults = type.make();
    const std::vector<config::Field> fields = type.fields(data), before = type.fields(defaults.get());
    Json members = Json::object();
    for (size_t i = 0; i < fields.size(); ++i) {
      const std::string name(fields[i].name);
      const std::string at = path + "." + name;
      const Slot slot{fields[i].type, fields[i].data, {}};
      if (name == "batch_split") {
        if (fields[i].type->size(fields[i].data) == 0) continue;
        members["inputs_split_mapping"] = inputs_split(slot, path + ".inputs_split_mapping");
        continue;
      }
      if (name == "inputs_split_mapping") continue;
      if (name == "weight_split_dims_mapping" || name == "activation_split_dims_mapping") {
        const char* kind = name[0] == 'w' ? "WeightSharding" : "ActivationSharding";
        members[name] = buildable(pyref(fmt::format("{}.{}", python_name(type), kind)), members_of_map(slot, at), at);
        continue;
      }
      const bool same = config::equal(slot, {before[i].type, before[i].data, {}});
      if (same && name == "params_init") {
        members[name] = unset_init(at);
        continue;
      }
      if (same && (name == kNewMember || !holds_configs(*slot.type, slot.data))) continue;
      members[name] = value(slot, at);
    }
    return buildable(pyref(python_name(type)), members, path);
  }

  /// Whether Python makes the member's default by a factory: then it must be there.
  static bool holds_configs(const config::FieldType& type, void* data) {
    if (type.kind == FieldKind::kRecord) return true;
    if (type.kind == FieldKind::kTpl) return static_cast<bool>(*static_cast<const AnyTpl*>(data));
    bool found = false;
    config::each_part({&type, data, {}}, [&](const std::string&, const Slot& part) {
      found = found || holds_configs(*part.type, part.data);
    });
    return found;
  }

  /// Praxis's mark for an initializer that comes from the layer around.
  Json unset_init(const std::string& path) {
    Json members;
    members["method"] = leaf("xavier", path + ".method");
    members["scale"] = leaf(1.000001, path + ".scale");
    return buildable(pyref("praxis.base_layer.WeightInit"), members, path);
  }

  Json inputs_split(const Slot& axes, const std::string& path) {
    const auto rows = [&] { return value(axes, path); };
    Json mapping;
    mapping["map_1d"] = list(Json::array({rows()}), path);
    mapping["map_2d"] = list(Json::array({rows(), leaf(nullptr, path)}), path);
    const Json dictionary = dict(mapping, path);
    Json& object = objects_[dictionary["key"].get<std::string>()];
    object["type"] = pyref("lingvo.core.nested_map", "NestedMap");
    return dictionary;
  }

  Json members_of_map(const Slot& slot, const std::string& path) {
    Json members = Json::object();
    for (const auto& [key, data] : slot.type->map_entries(slot.data)) {
      const std::string name(key);
      members[name] = value({&slot.type->element(), data, {}}, path + "." + name);
    }
    return members;
  }

  Json value(const Slot& slot, const std::string& path) {
    const config::FieldType& type = *slot.type;
    switch (type.kind) {
      case FieldKind::kTpl: {
        const auto& tpl = *static_cast<const AnyTpl*>(slot.data);
        if (!tpl) return leaf(nullptr, path);
        const auto [at, is_new] = written_.emplace(tpl.node().get(), Json());
        if (is_new) {
          const Json written = object(*tpl.type(), tpl.node()->data.get(), path);
          return written_[tpl.node().get()] = written;
        }
        const std::string key = at->second["key"].get<std::string>();
        refcounts_[key] = refcounts_[key].get<int>() + 1;
        return at->second;
      }
      case FieldKind::kRecord:
        return object(type.record(), slot.data, path);
      case FieldKind::kOptional: {
        void* inside = type.get(slot.data);
        return inside == nullptr ? leaf(nullptr, path) : value({&type.element(), inside, {}}, path);
      }
      case FieldKind::kVariant:
        return value({&type.alternative(type.index(slot.data)), type.get(slot.data), {}}, path);
      case FieldKind::kList: {
        Json items = Json::array();
        config::each_part(
            slot, [&](const std::string& suffix, const Slot& part) { items.push_back(value(part, path + suffix)); });
        return list(std::move(items), path);
      }
      case FieldKind::kMap:
        return dict(members_of_map(slot, path), path);
      case FieldKind::kValue:
        return plain(*static_cast<const config::Value*>(slot.data), path);
      case FieldKind::kEnum:
        return enumerator(slot, path);
      default:
        return plain(config::scalar_value(type, slot.data), path);
    }
  }

  Json enumerator(const Slot& slot, const std::string& path) {
    const std::string name = config::scalar_value(*slot.type, slot.data).text;
    if (slot.type->id == "pax::DType") return pyref("jax.numpy", name);
    for (const auto& [id, python] : kPythonEnums) {
      if (slot.type->id == id) return pyref(fmt::format("{}.{}", python, upper(name)));
    }
    return leaf(name, path);
  }

  Json plain(const config::Value& value, const std::string& path) {
    using Kind = config::Value::Kind;
    switch (value.kind) {
      case Kind::kNull:
        return leaf(nullptr, path);
      case Kind::kBool:
        return leaf(value.boolean, path);
      case Kind::kInt:
        return leaf(value.integer, path);
      case Kind::kReal:
        return leaf(value.real, path);
      case Kind::kString:
        return leaf(value.text, path);
      case Kind::kList: {
        Json items = Json::array();
        for (const config::Value& item : value.items) items.push_back(plain(item, path));
        return list(std::move(items), path);
      }
      case Kind::kMap:
        break;
    }
    Json members = Json::object();
    const config::Value* name = value.find("__class__");
    for (size_t i = 0; i < value.keys.size(); ++i) {
      if (value.keys[i] != "__class__") members[value.keys[i]] = plain(value.items[i], path + "." + value.keys[i]);
    }
    return name == nullptr ? dict(members, path) : buildable(pyref(name->text), members, path);
  }

  Json objects_ = Json::object();
  Json refcounts_ = Json::object();
  std::map<std::string, int> numbers_;
  std::map<const config::Node*, Json> written_;
};

}  // namespace

std::string task_to_fiddle(const SingleTask& task) { return Writer().write(task); }

}  // namespace pax
