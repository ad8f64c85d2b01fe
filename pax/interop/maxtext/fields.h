#pragma once

#include <span>
#include <string_view>

namespace pax::maxtext {

/// A MaxText key and the member that takes its value.
struct KeyField {
  std::string_view key;
  std::string_view field;
};

/// The keys that have a counterpart, in the order of the report.
std::span<const KeyField> key_fields();

/// The member of `key`, or "" when it has none.
std::string_view field_of(std::string_view key);

}  // namespace pax::maxtext
