#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "pax/config/value.h"

namespace pax {

template <class T>
class Required;
template <class Base>
class Tpl;

}  // namespace pax

namespace pax::config {

class Errors;
struct ConfigType;
class FieldVisitor;

/// The C++ name of `T`, also when incomplete: the identity of types across shared libraries.
template <class T>
constexpr std::string_view type_name() {
  const std::string_view text = __PRETTY_FUNCTION__;
  const size_t begin = text.find("T = ") + 4;
  return text.substr(begin, text.find_first_of(";]", begin) - begin);
}

enum class FieldKind : uint8_t {
  kBool,
  kInt,
  kReal,
  kString,
  kEnum,
  kOptional,  ///< std::optional and Required
  kList,      ///< std::vector and std::array
  kMap,       ///< std::map from strings
  kVariant,   ///< std::variant: the first alternative that fits
  kRecord,    ///< a struct with `fields`, held by value
  kTpl,       ///< Tpl<Base>
  kValue      ///< Value: anything
};

using EnumEntry = std::pair<int64_t, std::string_view>;
using MapEntry = std::pair<std::string_view, void*>;

/// What erased code must know of one C++ type of members. Only the functions of its kind are set.
struct FieldType {
  FieldKind kind = FieldKind::kBool;
  std::string_view id;                      ///< C++ name
  uint8_t bytes = 0;                        ///< of kInt, kReal, kEnum
  bool is_signed = true;                    ///< of kInt
  bool required = false;                    ///< of kOptional: Required<T>
  int64_t fixed_size = -1;                  ///< of kList: std::array
  const FieldType& (*element)() = nullptr;  ///< of kOptional, kList, kMap
  void (*assign)(void* to, const void* from) = nullptr;

  void* (*get)(void*) = nullptr;      ///< kOptional: nullptr when empty; kVariant: the one held
  void* (*emplace)(void*) = nullptr;  ///< kOptional: a fresh element
  void (*reset)(void*) = nullptr;     ///< kOptional, kMap: empties

  size_t (*size)(const void*) = nullptr;  ///< kList
  void* (*at)(void*, size_t) = nullptr;
  void (*resize)(void*, size_t) = nullptr;

  std::vector<MapEntry> (*map_entries)(void*) = nullptr;  ///< kMap
  void* (*insert)(void*, std::string_view key) = nullptr;

  std::span<const FieldType& (*const)()> alternatives;  ///< kVariant
  size_t (*index)(const void*) = nullptr;
  void* (*select)(void*, size_t) = nullptr;

  std::vector<EnumEntry> (*enum_entries)() = nullptr;  ///< kEnum: the first name of a value is printed

  const ConfigType& (*record)() = nullptr;  ///< kRecord
  std::string_view interface;               ///< kTpl: type_name of Base

  const FieldType& alternative(size_t i) const { return alternatives[i](); }
};

/// What a `fields` list says of a member beside its name. Bounds hold for numbers, and for each number of a list.
struct About {
  const char* doc = "";
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  /// Names, joined by commas, of Required members of the templates held here that the config's Product fills in;
  /// "*" for all. `validate` does not miss them.
  const char* fills = "";
};

/// One member of one config object.
struct Field {
  std::string_view name;
  const FieldType* type;
  void* data;
  About about;
};

/// A config class, type-erased: one static object for each, `type_of<C>()`.
struct ConfigType {
  std::string_view id;    ///< C++ name
  std::string_view name;  ///< registered name, `praxis.layers.Linear`
  std::string_view doc;
  std::span<const std::string_view> aliases;  ///< other registered names
  void (*visit)(void*, FieldVisitor&);
  size_t bytes;
  void (*construct)(void* at);  ///< with the defaults
  void (*copy_construct)(void* at, const void* from);
  void (*destroy)(void*);
  std::span<const std::string_view> interfaces;  ///< type_name of Product and of all it may stand for
  /// Builds Product and returns it as that interface; null for plain records.
  std::shared_ptr<void> (*build)(const void* config, std::string_view interface, void* context);
  /// The config's own checks; null when it has none.
  void (*validate)(const void*, Errors&);

  std::vector<Field> fields(void* data) const;
  std::shared_ptr<void> make() const;
  std::shared_ptr<void> copy(const void* from) const;
  bool implements(std::string_view interface) const;
  bool is(const ConfigType& other) const { return this == &other || id == other.id; }
};

/// The descriptor of member type `T`. An elaborate type of many configs compiles faster with
/// `extern template const config::FieldType& config::field_type<T>();` in its header and the same line without
/// `extern` in its source.
template <class T>
const FieldType& field_type();

/// The descriptor of config class `C`. A class that many files use compiles faster with
/// `extern template const config::ConfigType& config::type_of<Linear::Config>();` in its header and the same line
/// without `extern` in its source.
template <class C>
const ConfigType& type_of();

/// Collects the members that a `fields` list names.
class FieldVisitor {
 public:
  template <class T>
  void operator()(const char* name, T& field, const char* doc = "") {
    add(name, &field, field_type<T>(), doc);
  }
  template <class T>
  void operator()(const char* name, T& field, const About& about) {
    add(name, &field, field_type<T>(), about);
  }
  std::vector<Field> fields;

 private:
  void add(const char* name, void* data, const FieldType& type, const char* doc);
  void add(const char* name, void* data, const FieldType& type, const About& about);
};

/// A struct with a `fields` list.
template <class T>
concept Record = requires(T& t, FieldVisitor& v) {
  T::fields(t, v);
};
/// A record from which an object is built.
template <class T>
concept Buildable = Record<T> && requires {
  typename T::Product;
};
/// An enum whose names a function `std::span<const std::pair<E, std::string_view>> enum_names(E)` lists.
template <class T>
concept NamedEnum = std::is_enum_v<T> && requires(T e) {
  enum_names(e);
};

}  // namespace pax::config
