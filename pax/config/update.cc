#include "pax/config/update.h"

#include <fmt/core.h>

#include <algorithm>

#include "pax/base/error.h"
#include "pax/base/text.h"
#include "pax/config/yaml.h"

namespace pax::config {

namespace {

/// Whether `name` is a name of `type`, or the end of its name after a dot.
bool answers_to(const ConfigType& type, std::string_view name) {
  if (type.name == name || type.name.ends_with("." + std::string(name))) return true;
  return std::find(type.aliases.begin(), type.aliases.end(), name) != type.aliases.end();
}

}  // namespace

void Updater::wrong(const std::string& path, std::string_view message, const Value& value) {
  errors_.add(path, message, value.line);
}

const ConfigType* Updater::find_class(const std::string& path, const Value& name, std::string_view interface) {
  if (name.kind != Value::Kind::kString) {
    wrong(path, fmt::format("__class__ must be the name of a class, not {}", describe(name)), name);
    return nullptr;
  }
  try {
    return &registry_.find(name.text, interface);
  } catch (const ConfigError& error) {
    wrong(path, error.what(), name);
    return nullptr;
  }
}

void Updater::update(const Slot& slot, const std::string& path, const Value& value) {
  const FieldType& type = *slot.type;
  switch (type.kind) {
    case FieldKind::kOptional: {
      if (value.is_null()) return type.reset(slot.data);
      void* inside = type.get(slot.data);
      return update({&type.element(), inside != nullptr ? inside : type.emplace(slot.data), slot.about}, path, value);
    }
    case FieldKind::kTpl:
      return update_tpl(slot, path, value);
    case FieldKind::kRecord: {
      if (!value.is_map()) {
        return wrong(path, fmt::format("must be {}, not {}", describe_type(type), describe(value)), value);
      }
      const Value* name = value.find("__class__");
      if (name != nullptr && !answers_to(type.record(), name->text)) {
        const ConfigType* named = find_class(path, *name, "");
        if (named == nullptr) return;
        if (!named->is(type.record())) {
          return wrong(path, fmt::format("must be a {}, not a {}", type.record().name, named->name), *name);
        }
      }
      return update_members(type.record(), slot.data, path, value);
    }
    case FieldKind::kList:
      return update_list(slot, path, value);
    case FieldKind::kMap:
      return update_map(slot, path, value);
    case FieldKind::kVariant:
      return update_variant(slot, path, value);
    default: {
      std::string message = set_scalar(type, slot.data, value);
      if (message.empty()) message = check_range(slot);
      if (!message.empty()) wrong(path, message, value);
    }
  }
}

void Updater::update_members(const ConfigType& type, void* data, const std::string& path, const Value& value) {
  for (size_t i = 0; i < value.keys.size(); ++i) {
    if (value.keys[i] == "__class__") continue;
    const std::string at = join_config_path(path, value.keys[i]);
    std::string message;
    const auto slot = find_field(type, data, value.keys[i], message);
    if (slot) {
      update(*slot, at, value.items[i]);
    } else {
      wrong(at, message, value.items[i]);
    }
  }
}

void Updater::update_tpl(const Slot& slot, const std::string& path, const Value& value) {
  auto& tpl = *static_cast<AnyTpl*>(slot.data);
  const std::string_view interface = slot.type->interface;
  if (value.is_null()) {
    tpl = AnyTpl();
    return;
  }
  if (const auto known = anchored_.find(value.anchor); value.anchor != 0 && known != anchored_.end()) {
    if (!known->second.type()->implements(interface)) {
      return wrong(path, fmt::format("{} does not build a {}", known->second.class_name(), short_name(interface)),
                   value);
    }
    tpl = known->second;
    return;
  }
  const bool only_name = value.kind == Value::Kind::kString;  // `activation_tpl: GELU`
  if (!value.is_map() && !only_name) {
    return wrong(path, fmt::format("must be {}, not {}", describe_type(*slot.type), describe(value)), value);
  }
  const Value* name = only_name ? &value : value.find("__class__");
  const ConfigType* type = tpl.type();
  if (name != nullptr) {
    const bool same = type != nullptr && name->text == type->name;
    type = same ? type : find_class(path, *name, interface);
    if (type == nullptr) return;
  } else if (type == nullptr) {
    return wrong(path, fmt::format("is null, so it needs a __class__ that builds a {}", short_name(interface)), value);
  }
  const bool replace = !tpl || !tpl.type()->is(*type) || (name != nullptr && written_.contains(tpl.node().get()));
  if (replace) tpl = AnyTpl(std::make_shared<Node>(Node{type, type->make(), nullptr}));
  written_.insert(tpl.node().get());
  if (value.anchor != 0) anchored_[value.anchor] = tpl;
  const AnyTpl keep = tpl;  // what follows may write the handle itself when a default config shares nodes
  update_members(*type, keep.node()->data.get(), path, value);
}

void Updater::update_list(const Slot& slot, const std::string& path, const Value& value) {
  const FieldType& type = *slot.type;
  if (!value.is_list()) {
    return wrong(path, fmt::format("must be {}, not {}", describe_type(type), describe(value)), value);
  }
  const size_t size = value.items.size();
  if (type.fixed_size >= 0 && size != static_cast<size_t>(type.fixed_size)) {
    return wrong(path, fmt::format("must have {} items, not {}", type.fixed_size, size), value);
  }
  std::vector<AnyTpl> before;  // templates without a class are updated in place
  if (type.element().kind == FieldKind::kTpl) {
    for (size_t i = 0; i < type.size(slot.data); ++i) {
      before.push_back(*static_cast<const AnyTpl*>(type.at(slot.data, i)));
    }
  }
  if (type.fixed_size < 0) {
    type.resize(slot.data, 0);
    type.resize(slot.data, size);
  }
  for (size_t i = 0; i < size; ++i) {
    void* item = type.at(slot.data, i);
    const bool has_class = !value.items[i].is_map() || value.items[i].find("__class__") != nullptr;
    if (i < before.size() && !has_class) *static_cast<AnyTpl*>(item) = before[i];
    update({&type.element(), item, slot.about}, fmt::format("{}[{}]", path, i), value.items[i]);
  }
}

void Updater::update_map(const Slot& slot, const std::string& path, const Value& value) {
  if (!value.is_map()) {
    return wrong(path, fmt::format("must be {}, not {}", describe_type(*slot.type), describe(value)), value);
  }
  slot.type->reset(slot.data);
  for (size_t i = 0; i < value.keys.size(); ++i) {
    const std::string at = join_config_path(path, value.keys[i]);
    update({&slot.type->element(), slot.type->insert(slot.data, value.keys[i]), slot.about}, at, value.items[i]);
  }
}

bool Updater::try_alternative(const Slot& slot, size_t i, const Value& value) {
  Errors trial;
  Updater updater(registry_, trial);
  updater.update({&slot.type->alternative(i), slot.type->select(slot.data, i), slot.about}, "", value);
  return trial.empty();
}

void Updater::update_variant(const Slot& slot, const std::string& path, const Value& value) {
  const auto fits_best = [&](FieldKind kind) {
    switch (value.kind) {
      case Value::Kind::kBool:
        return kind == FieldKind::kBool;
      case Value::Kind::kInt:
        return kind == FieldKind::kInt;
      case Value::Kind::kReal:
        return kind == FieldKind::kReal;
      case Value::Kind::kString:
        return kind == FieldKind::kString || kind == FieldKind::kEnum;
      default:
        return true;
    }
  };
  for (const bool best : {true, false}) {
    for (size_t i = 0; i < slot.type->alternatives.size(); ++i) {
      if (fits_best(slot.type->alternative(i).kind) == best && try_alternative(slot, i, value)) return;
    }
  }
  for (size_t i = 0; i < slot.type->alternatives.size(); ++i) {
    if (!value.is_map() || slot.type->alternative(i).kind != FieldKind::kTpl) continue;
    return update({&slot.type->alternative(i), slot.type->select(slot.data, i), slot.about}, path,
                  value);  // says why not
  }
  wrong(path, fmt::format("must be {}, not {}", describe_type(*slot.type), describe(value)), value);
}

void update(const Ref& config, const Value& value, const Registry& registry, Errors& errors) {
  if (value.is_null()) return;  // an empty file
  if (!value.is_map()) return errors.add("", fmt::format("a config is a mapping, not {}", describe(value)), value.line);
  if (const Value* name = value.find("__class__"); name != nullptr && !answers_to(*config.type, name->text)) {
    try {
      const ConfigType& named = registry.find(name->text);
      if (!named.is(*config.type)) {
        return errors.add("", fmt::format("must be a {}, not a {}", config.type->name, named.name), name->line);
      }
    } catch (const ConfigError& error) {
      return errors.add("", error.what(), name->line);
    }
  }
  Updater(registry, errors).update_members(*config.type, config.data, "", value);
}

void update(const Ref& config, const Value& value, const Registry& registry) {
  Errors errors;
  update(config, value, registry, errors);
  errors.throw_if_any();
}

AnyTpl parse_any(const Value& value, const Registry& registry, std::string_view interface, std::string_view source) {
  Errors errors;
  errors.source = source;
  AnyTpl tpl;
  FieldType type;
  type.kind = FieldKind::kTpl;
  type.interface = interface;
  Updater updater(registry, errors);
  if (value.is_map() && value.find("__class__") == nullptr) {
    errors.add("", "the top of the config needs a __class__", value.line);
  } else if (value.is_null()) {
    errors.add("", "the config is empty; its top needs a __class__", value.line);
  } else {
    updater.update({&type, &tpl, {}}, "", value);
  }
  errors.throw_if_any();
  return tpl;
}

}  // namespace pax::config
