#include "pax/config/access.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>

#include "pax/base/error.h"
#include "pax/base/text.h"
#include "pax/config/errors.h"

namespace pax::config {

std::vector<Step> split_path(std::string_view path) {
  const std::string_view whole = path;
  std::vector<Step> steps;
  while (!path.empty()) {
    if (path.front() != '[') {
      const size_t end = std::min(path.find_first_of(".["), path.size());
      if (end == 0) fail<ConfigError>("{}: a name is missing between the dots", whole);
      steps.push_back({std::string(path.substr(0, end))});
      path.remove_prefix(end);
    } else if (path.starts_with("[\"")) {
      const size_t end = path.find("\"]");
      if (end == std::string_view::npos || end < 2) fail<ConfigError>("{}: [\" has no matching \"]", whole);
      steps.push_back({std::string(path.substr(2, end - 2))});
      path.remove_prefix(end + 2);
    } else {
      const size_t end = path.find(']');
      if (end == std::string_view::npos) fail<ConfigError>("{}: [ has no matching ]", whole);
      const std::string_view digits = path.substr(1, end - 1);
      Step step;
      const auto [stop, ec] = std::from_chars(digits.data(), digits.data() + digits.size(), step.index);
      if (ec != std::errc() || stop != digits.data() + digits.size() || step.index < 0) {
        fail<ConfigError>("{}: [{}] is not an index from 0", whole, digits);
      }
      steps.push_back(std::move(step));
      path.remove_prefix(end + 1);
    }
    if (path.starts_with('.')) {
      path.remove_prefix(1);
      if (path.empty()) fail<ConfigError>("{}: a name is missing after the last dot", whole);
    }
  }
  return steps;
}

std::optional<Slot> find_field(const ConfigType& type, void* data, std::string_view name, std::string& error) {
  std::vector<std::string> names;
  for (const Field& field : type.fields(data)) {
    if (field.name == name) return Slot{field.type, field.data, field.about};
    names.emplace_back(field.name);
  }
  error = fmt::format("no such field in {}.{}", type.name, did_you_mean(name, names));
  return std::nullopt;
}

std::optional<Slot> step_down(const Slot& slot, const Step& step, std::string& error) {
  const FieldType& type = *slot.type;
  switch (type.kind) {
    case FieldKind::kOptional: {
      void* inside = type.get(slot.data);
      if (inside == nullptr) {
        error = "is null here";
        return std::nullopt;
      }
      return step_down({&type.element(), inside, slot.about}, step, error);
    }
    case FieldKind::kVariant:
      return step_down({&type.alternative(type.index(slot.data)), type.get(slot.data), slot.about}, step, error);
    case FieldKind::kTpl: {
      const auto& tpl = *static_cast<const AnyTpl*>(slot.data);
      if (step.index >= 0) break;
      if (!tpl) {
        error = fmt::format("is null here; give it a __class__ that builds a {} first", short_name(type.interface));
        return std::nullopt;
      }
      return find_field(*tpl.type(), tpl.node()->data.get(), step.name, error);
    }
    case FieldKind::kRecord:
      if (step.index >= 0) break;
      return find_field(type.record(), slot.data, step.name, error);
    case FieldKind::kList: {
      if (step.index < 0) break;
      const size_t size = type.size(slot.data);
      if (static_cast<size_t>(step.index) >= size) {
        error = fmt::format("has {} items, so [{}] does not exist", size, step.index);
        return std::nullopt;
      }
      return Slot{&type.element(), type.at(slot.data, static_cast<size_t>(step.index)), slot.about};
    }
    case FieldKind::kMap: {
      if (step.index >= 0) break;
      std::vector<std::string> names;
      for (const auto& [key, data] : type.map_entries(slot.data)) {
        if (key == step.name) return Slot{&type.element(), data, slot.about};
        names.emplace_back(key);
      }
      error = fmt::format("no key {}.{}", json_quote(step.name), did_you_mean(step.name, names));
      return std::nullopt;
    }
    default:
      break;
  }
  error = fmt::format("is {}, which has no {}", describe_type(type),
                      step.index >= 0 ? fmt::format("item [{}]", step.index) : fmt::format("field \"{}\"", step.name));
  return std::nullopt;
}

std::optional<Slot> find_slot(const ConfigType& type, void* data, std::string_view path, std::string& error) {
  std::optional<Slot> slot;
  std::string done;
  for (const Step& step : split_path(path)) {
    const FieldKind kind = slot ? slot->type->kind : FieldKind::kRecord;
    slot = slot ? step_down(*slot, step, error) : find_field(type, data, step.name, error);
    const std::string part = step.index >= 0 ? fmt::format("[{}]", step.index) : step.name;
    const std::string here = join_config_path(done, part);
    if (!slot) {
      const bool about_member = kind == FieldKind::kRecord || error.starts_with("no such field");
      error = fmt::format("{}: {}", about_member || done.empty() ? here : done, error);
      return std::nullopt;
    }
    done = here;
  }
  if (!slot) error = "the path is empty";
  return slot;
}

}  // namespace pax::config
