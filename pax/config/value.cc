#include "pax/config/value.h"

#include <fmt/core.h>

#include "pax/base/text.h"

namespace pax::config {

Value Value::of(bool value) {
  Value out;
  out.kind = Kind::kBool;
  out.boolean = value;
  out.text = value ? "true" : "false";
  return out;
}

Value Value::of(int64_t value) {
  Value out;
  out.kind = Kind::kInt;
  out.integer = value;
  out.real = static_cast<double>(value);
  out.text = fmt::format("{}", value);
  return out;
}

Value Value::of(double value) {
  Value out;
  out.kind = Kind::kReal;
  out.real = value;
  out.text = exact_double(value);
  return out;
}

Value Value::of(std::string_view value) {
  Value out;
  out.kind = Kind::kString;
  out.quoted = true;
  out.text = value;
  return out;
}

Value Value::list() {
  Value out;
  out.kind = Kind::kList;
  return out;
}

Value Value::map() {
  Value out;
  out.kind = Kind::kMap;
  return out;
}

const Value* Value::find(std::string_view key) const {
  for (size_t i = 0; i < keys.size(); ++i) {
    if (keys[i] == key) return &items[i];
  }
  return nullptr;
}

void Value::add(std::string key, Value value) {
  keys.push_back(std::move(key));
  items.push_back(std::move(value));
}

bool Value::operator==(const Value& other) const {
  if (kind != other.kind) return false;
  switch (kind) {
    case Kind::kNull:
      return true;
    case Kind::kBool:
      return boolean == other.boolean;
    case Kind::kInt:
      return integer == other.integer;
    case Kind::kReal:
      return real == other.real || (real != real && other.real != other.real);
    case Kind::kString:
      return text == other.text;
    case Kind::kList:
      return items == other.items;
    case Kind::kMap:
      return keys == other.keys && items == other.items;
  }
  return false;
}

std::string describe(const Value& value) {
  switch (value.kind) {
    case Value::Kind::kNull:
      return "null";
    case Value::Kind::kBool:
      return value.boolean ? "true" : "false";
    case Value::Kind::kInt:
    case Value::Kind::kReal:
      return fmt::format("the number {}", value.text.size() > 60 ? value.text.substr(0, 60) + "…" : value.text);
    case Value::Kind::kString:
      return fmt::format("the text {}",
                         json_quote(value.text.size() > 60 ? value.text.substr(0, 60) + "…" : value.text));
    case Value::Kind::kList:
      return fmt::format("a list of {}", value.items.size());
    case Value::Kind::kMap:
      return "a mapping";
  }
  return "";
}

}  // namespace pax::config
