#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pax/config/tpl.h"

// Reading, writing and walking of single members by erased code. For the other files of this folder.

namespace pax::config {

/// A place that holds a value of some member type.
struct Slot {
  const FieldType* type;
  void* data;
  About about;
};

/// A step of a path: `.name` or `[index]`.
struct Step {
  std::string name;
  int64_t index = -1;
};
/// Splits "a.b[2].c" and `a["x.y"]`. Throws ConfigError when the brackets do not match.
std::vector<Step> split_path(std::string_view path);

/// The slot at `path` below a config, or nothing and the reason in `error`. Absent optionals on the way are an error.
std::optional<Slot> find_slot(const ConfigType& type, void* data, std::string_view path, std::string& error);

/// One step down from `slot` (through templates, optionals and variants), or nothing and the reason in `error`.
std::optional<Slot> step_down(const Slot& slot, const Step& step, std::string& error);

/// The member `name` of a config, or nothing and a message with the nearest name.
std::optional<Slot> find_field(const ConfigType& type, void* data, std::string_view name, std::string& error);

/// The value of a bool, number, string or enum.
Value scalar_value(const FieldType& type, const void* data);

/// Sets a bool, number, string or enum. Returns what is wrong with the value, or "".
std::string set_scalar(const FieldType& type, void* data, const Value& value);

/// Whether the number (or each number of a list) at `slot` keeps its bounds: what is wrong, or "".
std::string check_range(const Slot& slot);

/// Copies `from` into `to`, converting where nothing is lost. Returns what is wrong, or "".
std::string convert(const Slot& to, const Slot& from);

/// "an integer", "a list of numbers", "praxis.layers.Linear": what a member holds, for messages.
std::string describe_type(const FieldType& type);

/// The last part of a C++ name.
std::string_view short_name(std::string_view cpp_name);

/// Calls `visit(suffix, slot)` for each part directly inside a list, map, optional, variant, record or template:
/// suffix is ".name", "[2]" or "" (the inside of an optional or variant). Templates and optionals may be empty.
template <class Visit>
void each_part(const Slot& slot, Visit&& visit) {
  const FieldType& type = *slot.type;
  switch (type.kind) {
    case FieldKind::kOptional:
      if (void* inside = type.get(slot.data)) visit(std::string(), Slot{&type.element(), inside, slot.about});
      return;
    case FieldKind::kVariant:
      visit(std::string(), Slot{&type.alternative(type.index(slot.data)), type.get(slot.data), slot.about});
      return;
    case FieldKind::kList:
      for (size_t i = 0; i < type.size(slot.data); ++i) {
        visit("[" + std::to_string(i) + "]", Slot{&type.element(), type.at(slot.data, i), slot.about});
      }
      return;
    case FieldKind::kMap:
      for (const auto& [key, data] : type.map_entries(slot.data)) {
        const bool plain = !key.empty() && key.find_first_of(".[]\"=") == std::string_view::npos;
        std::string suffix = plain ? std::string(key) : "[\"" + std::string(key) + "\"]";
        visit(std::move(suffix), Slot{&type.element(), data, slot.about});
      }
      return;
    case FieldKind::kRecord:
      for (const Field& field : type.record().fields(slot.data)) {
        visit(std::string(field.name), Slot{field.type, field.data, field.about});
      }
      return;
    case FieldKind::kTpl: {
      const auto& tpl = *static_cast<const AnyTpl*>(slot.data);
      if (!tpl) return;
      for (const Field& field : tpl.type()->fields(tpl.node()->data.get())) {
        visit(std::string(field.name), Slot{field.type, field.data, field.about});
      }
      return;
    }
    default:
      return;
  }
}

}  // namespace pax::config
