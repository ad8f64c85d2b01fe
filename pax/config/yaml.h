#pragma once

#include <string>
#include <string_view>

#include "pax/config/ref.h"
#include "pax/config/registry.h"
#include "pax/config/value.h"

namespace pax::config {

class Errors;

/// Bounds on what is read: beyond them a ConfigError says so.
struct ReadLimits {
  size_t bytes = 10'000'000;
  size_t values = 1'000'000;  ///< after aliases are expanded
  int depth = 100;
};

/// Reads one YAML document (JSON is YAML). Throws ConfigError with source, line and reason: bad syntax, duplicate keys,
/// several documents, wrong UTF-8, NUL bytes, limits.
Value read_yaml(std::string_view text, std::string_view source = "", const ReadLimits& limits = {});

struct PrintOptions {
  bool only_changed = false;  ///< leave out what equals the defaults
  bool comments = false;      ///< the docs of members as comments
};

/// The config as plain values; shared nodes get an anchor, and stand only once.
Value to_value(const Ref& config, const PrintOptions& options = {});
/// The member at `path` as plain values.
Value value_at(const Ref& config, std::string_view path, const PrintOptions& options = {});

std::string to_yaml(const Value& value);
/// One line. Shared values are repeated.
std::string to_json(const Value& value);

/// The whole config as YAML; `parse` reads it back equal, sharing included.
std::string print(const Ref& config, const PrintOptions& options = {});

/// Writes `value` into a config of any class, member by member: members that are not named stay. A template whose
/// `__class__` is absent or the same is updated in place, another class replaces it by that class's defaults; null
/// clears; lists and maps are replaced, their items begin from their defaults. Mistakes go into `errors`.
void update(const Ref& config, const Value& value, const Registry& registry, Errors& errors);
/// As above; all mistakes in one ConfigError.
void update(const Ref& config, const Value& value, const Registry& registry);

/// Reads a config whose top says `__class__`, which must implement `interface` (if not empty).
AnyTpl parse_any(const Value& value, const Registry& registry, std::string_view interface, std::string_view source);

/// The config in `text` as a `Tpl<Base>`. All mistakes of the text come in one ConfigError.
template <class Base>
Tpl<Base> parse(std::string_view text, const Registry& registry, std::string_view source = "") {
  return Tpl<Base>::from(parse_any(read_yaml(text, source), registry, type_name<Base>(), source));
}
template <class Base>
Tpl<Base> parse(const Value& value, const Registry& registry) {
  return Tpl<Base>::from(parse_any(value, registry, type_name<Base>(), ""));
}

}  // namespace pax::config
