#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pax::config {

/// A tree of plain values: the bridge between typed configs and text (YAML, JSON, Fiddle). Maps keep their order.
struct Value {
  enum class Kind : uint8_t { kNull, kBool, kInt, kReal, kString, kList, kMap };

  Kind kind = Kind::kNull;
  bool boolean = false;
  bool quoted = false;  ///< A string in quotes: never read as a number, boolean or null.
  int64_t integer = 0;
  double real = 0;
  std::string text;                   ///< The string, or how a plain scalar was spelled.
  std::vector<std::string> keys;      ///< Of a map; as many as `items`.
  std::vector<Value> items;           ///< Of a list or a map.
  std::vector<std::string> comments;  ///< Of a map, printed above its keys; none or as many as `keys`.
  int line = 0;                       ///< In the source text, from 1; 0 when there is none.
  int anchor = 0;                     ///< Equal in all places that alias one anchored value; 0 when not anchored.

  static Value null() { return {}; }
  static Value of(bool value);
  static Value of(int64_t value);
  static Value of(int value) { return of(static_cast<int64_t>(value)); }
  static Value of(double value);
  static Value of(std::string_view value);
  static Value of(const char* value) { return of(std::string_view(value)); }
  static Value list();
  static Value map();

  bool is_null() const { return kind == Kind::kNull; }
  bool is_list() const { return kind == Kind::kList; }
  bool is_map() const { return kind == Kind::kMap; }
  bool is_scalar() const { return !is_list() && !is_map(); }

  /// The value of `key` in a map, or nullptr.
  const Value* find(std::string_view key) const;
  void add(std::string key, Value value);

  /// Equal content; spelling, lines and anchors do not count.
  bool operator==(const Value& other) const;
};

/// "a list", "the number 3", "the text \"abc\"": for messages.
std::string describe(const Value& value);

}  // namespace pax::config
