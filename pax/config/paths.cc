#include "pax/config/paths.h"

#include <fmt/core.h>

#include "pax/base/error.h"
#include "pax/base/text.h"
#include "pax/config/access.h"
#include "pax/config/errors.h"
#include "pax/config/update.h"
#include "pax/config/yaml.h"

namespace pax::config {

namespace {

/// One step down, making what may be made: a key of a map, the inside of an empty optional.
std::optional<Slot> step_or_make(Slot slot, const Step& step, std::string& error) {
  if (slot.type->kind == FieldKind::kOptional) {
    void* inside = slot.type->get(slot.data);
    if (inside == nullptr && slot.type->element().kind != FieldKind::kTpl) inside = slot.type->emplace(slot.data);
    if (inside != nullptr) return step_or_make({&slot.type->element(), inside, slot.about}, step, error);
  }
  if (slot.type->kind == FieldKind::kMap && step.index < 0) {
    for (const auto& [key, data] : slot.type->map_entries(slot.data)) {
      if (key == step.name) return Slot{&slot.type->element(), data, slot.about};
    }
    return Slot{&slot.type->element(), slot.type->insert(slot.data, step.name), slot.about};
  }
  return step_down(slot, step, error);
}

/// Whether the member holds text, also inside an optional.
bool is_text(const FieldType& type) {
  if (type.kind == FieldKind::kOptional) return is_text(type.element());
  return type.kind == FieldKind::kString;
}

/// What `text` says for a member of type `type`: a text member takes it as it stands, unless it is quoted.
Value read_for(const FieldType& type, std::string_view text) {
  const bool is_quoted =
      text.size() >= 2 && (text.front() == '"' || text.front() == '\'') && text.back() == text.front();
  const bool is_null = text == "null" || text == "None" || text == "~";
  if (is_text(type) && !is_quoted && !(is_null && type.kind == FieldKind::kOptional)) return Value::of(text);
  Value value = read_yaml(text);
  return value;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

void without_lines(Value& value) {
  value.line = 0;
  for (Value& item : value.items) without_lines(item);
}

void set_path(const Ref& root, std::string_view path, std::string_view text, const Registry& registry, Errors& errors) {
  if (!is_utf8(path) || !is_utf8(text)) return errors.add("", "an override is not well-formed UTF-8");
  std::vector<Step> steps = split_path(path);
  if (steps.empty()) return errors.add("", "an override needs a path before its =");
  const bool sets_class = steps.back().name == "__class__" && steps.size() > 1;
  if (sets_class) steps.pop_back();
  std::optional<Slot> slot;
  std::string done;
  for (const Step& step : steps) {
    std::string error;
    const std::string here = join_config_path(done, step.index >= 0 ? fmt::format("[{}]", step.index) : step.name);
    slot = slot ? step_or_make(*slot, step, error) : find_field(*root.type, root.data, step.name, error);
    if (!slot) return errors.add(error.starts_with("no ") ? here : done, error);
    done = here;
  }
  Value value = read_for(*slot->type, text);
  without_lines(value);
  if (sets_class) {
    Value with_class = Value::map();
    with_class.add("__class__", std::move(value));
    value = std::move(with_class);
  }
  Updater(registry, errors).update(*slot, done, value);
}

/// Position of the `=` that ends the path: keys in quotes may hold others.
size_t find_equals(std::string_view assignment) {
  bool in_quotes = false;
  for (size_t i = 0; i < assignment.size(); ++i) {
    if (assignment[i] == '"') in_quotes = !in_quotes;
    if (assignment[i] == '=' && !in_quotes) return i;
  }
  return std::string_view::npos;
}

}  // namespace

void set_path(const Ref& root, std::string_view path, std::string_view text, const Registry& registry) {
  Errors errors;
  set_path(root, path, text, registry, errors);
  errors.throw_if_any();
}

void apply_overrides(const Ref& root, std::span<const std::string> assignments, const Registry& registry) {
  Errors errors;
  apply_overrides(root, assignments, registry, errors);
  errors.throw_if_any();
}

void apply_overrides(const Ref& root, std::span<const std::string> assignments, const Registry& registry,
                     Errors& errors) {
  for (const std::string& assignment : assignments) {
    const size_t equals = find_equals(assignment);
    if (equals == std::string::npos) {
      errors.add("", fmt::format("{}: an override is path=value", assignment));
      continue;
    }
    const std::string_view all = assignment;
    const std::string_view path = trimmed(all.substr(0, equals));
    try {
      set_path(root, path, trimmed(all.substr(equals + 1)), registry, errors);
    } catch (const ConfigError& error) {
      errors.add(path, error.what());
    }
  }
}

}  // namespace pax::config
