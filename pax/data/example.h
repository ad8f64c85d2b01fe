#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace pax::data {

using Ints = std::vector<int64_t>;
using Floats = std::vector<float>;
using Strings = std::vector<std::string>;

/// Values of one field. A scalar is a list of one; an empty list of unknown type is Ints.
using Feature = std::variant<Ints, Floats, Strings>;

/// One record as named fields. A field that is null or missing is not there.
class Example {
 public:
  using Fields = std::map<std::string, Feature, std::less<>>;

  /// nullptr when there is no such field.
  const Feature* find(std::string_view name) const;

  /// The one string of field `name`. Throws RuntimeError naming the fields there are, or the type found.
  const std::string& text(std::string_view name) const;
  /// The integers of field `name`; throws likewise.
  const Ints& ints(std::string_view name) const;

  void set(std::string name, Feature value) { fields_.insert_or_assign(std::move(name), std::move(value)); }
  void set_text(std::string name, std::string value);
  void erase(std::string_view name);

  const Fields& fields() const { return fields_; }
  bool operator==(const Example&) const = default;

 private:
  const Feature& at(std::string_view name) const;
  Fields fields_;
};

/// From a serialized tf.Example. Throws RuntimeError when malformed.
Example parse_tf_example(std::string_view bytes);

/// As a serialized tf.Example, fields in order of name.
std::string serialize_tf_example(const Example& example);

/// From one JSON object. Numbers that are whole and in range are integers, a list with any other number is Floats,
/// true and false are 1 and 0, objects and mixed lists are kept as JSON text. Throws RuntimeError naming the column.
Example parse_json_record(std::string_view line);

}  // namespace pax::data
