#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
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

// Interfaces: the root declares `using Kind = Layer` (and `BuildContext`, if it is built with one); an interface below
// it declares `using Interface = Attention`, and one below that also `using ParentInterface = Attention`.
template <class P>
constexpr auto interface_of() {
  if constexpr (requires { typename P::Interface; }) {
    return std::type_identity<typename P::Interface>{};
  } else if constexpr (requires { typename P::Kind; }) {
    return std::type_identity<typename P::Kind>{};
  } else {
    return std::type_identity<P>{};
  }
}
template <class I>
constexpr auto parent_interface_of() {
  if constexpr (requires { typename I::Kind; }) {
    if constexpr (std::is_same_v<typename I::Kind, I>) {
      return std::type_identity<I>{};
    } else if constexpr (requires { typename I::ParentInterface; }) {
      return std::type_identity<typename I::ParentInterface>{};
    } else {
      return std::type_identity<typename I::Kind>{};
    }
  } else {
    return std::type_identity<I>{};
  }
}
template <class P>
using InterfaceOf = typename decltype(interface_of<P>())::type;
template <class I>
using ParentInterfaceOf = typename decltype(parent_interface_of<I>())::type;

template <class I>
constexpr size_t chain_length() {
  if constexpr (std::is_same_v<ParentInterfaceOf<I>, I>) {
    return 1;
  } else {
    return 1 + chain_length<ParentInterfaceOf<I>>();
  }
}
template <class I, size_t N>
constexpr void fill_chain(std::array<std::string_view, N>& names, size_t at) {
  names[at] = type_name<I>();
  if constexpr (!std::is_same_v<ParentInterfaceOf<I>, I>) fill_chain<ParentInterfaceOf<I>>(names, at + 1);
}
template <class P>
inline constexpr auto interface_names = [] {
  std::array<std::string_view, 1 + chain_length<InterfaceOf<P>>()> names;
  names[0] = type_name<P>();
  fill_chain<InterfaceOf<P>>(names, 1);
  return names;
}();
template <class I>
std::shared_ptr<void> upcast(std::shared_ptr<I> object, std::string_view wanted) {
  if (wanted == type_name<I>()) return object;
  if constexpr (std::is_same_v<ParentInterfaceOf<I>, I>) {
    return nullptr;
  } else {
    return upcast<ParentInterfaceOf<I>>(std::move(object), wanted);
  }
}

template <class T>
concept HasBuildContext = requires {
  typename T::BuildContext;
}
&&!std::is_void_v<typename T::BuildContext>;

template <class C>
std::shared_ptr<void> build_product(const void* config, std::string_view interface, void* context) {
  using P = typename C::Product;
  const C& typed = *static_cast<const C*>(config);
  std::shared_ptr<P> object;
  if constexpr (std::is_abstract_v<P>) {
    (void)typed, (void)context;
    return nullptr;
  } else if constexpr (HasBuildContext<P>) {
    object = std::make_shared<P>(typed, *static_cast<typename P::BuildContext*>(context));
  } else {
    (void)context;
    object = std::make_shared<P>(typed);
  }
  if (interface == type_name<P>()) return object;
  return upcast<InterfaceOf<P>>(std::move(object), interface);
}

template <class C>
constexpr ConfigType make_config_type() {
  ConfigType type{};
  type.id = type_name<C>();
  if constexpr (requires { C::kName; }) {
    type.name = C::kName;
  } else {
    type.name = type_name<C>();
  }
  if constexpr (requires { C::kDoc; }) type.doc = C::kDoc;
  if constexpr (requires { C::kAliases; }) type.aliases = C::kAliases;
  type.visit = [](void* self, FieldVisitor& visitor) { C::fields(*static_cast<C*>(self), visitor); };
  static_assert(alignof(C) <= alignof(std::max_align_t));
  type.bytes = sizeof(C);
  type.construct = [](void* at) { std::construct_at(static_cast<C*>(at)); };
  type.copy_construct = [](void* at, const void* from) {
    std::construct_at(static_cast<C*>(at), *static_cast<const C*>(from));
  };
  type.destroy = [](void* at) { std::destroy_at(static_cast<C*>(at)); };
  if constexpr (Buildable<C>) {
    type.interfaces = interface_names<typename C::Product>;
    type.build = &build_product<C>;
  }
  if constexpr (requires(const C& c, Errors& e) { c.validate(e); }) {
    type.validate = [](const void* self, Errors& errors) { static_cast<const C*>(self)->validate(errors); };
  }
  return type;
}
template <class C>
[[gnu::noinline, gnu::cold]] const ConfigType& type_of() {
  static constexpr ConfigType type = make_config_type<C>();
  return type;
}

template <class T>
struct FieldTraits;  // One specialisation for each class template that may be a member.

template <class T>
constexpr FieldType make_field_type() {
  FieldType type;
  type.id = type_name<T>();
  type.assign = [](void* to, const void* from) { *static_cast<T*>(to) = *static_cast<const T*>(from); };
  if constexpr (std::is_same_v<T, bool>) {
    type.kind = FieldKind::kBool;
  } else if constexpr (std::is_integral_v<T>) {
    type.kind = FieldKind::kInt;
    type.bytes = sizeof(T);
    type.is_signed = std::is_signed_v<T>;
  } else if constexpr (std::is_floating_point_v<T>) {
    type.kind = FieldKind::kReal;
    type.bytes = sizeof(T);
  } else if constexpr (std::is_same_v<T, std::string>) {
    type.kind = FieldKind::kString;
  } else if constexpr (std::is_same_v<T, Value>) {
    type.kind = FieldKind::kValue;
  } else if constexpr (NamedEnum<T>) {
    type.kind = FieldKind::kEnum;
    type.bytes = sizeof(T);
    type.enum_entries = [] {
      std::vector<EnumEntry> entries;
      for (const auto& [value, name] : enum_names(T{})) entries.emplace_back(static_cast<int64_t>(value), name);
      return entries;
    };
  } else if constexpr (Record<T>) {
    type.kind = FieldKind::kRecord;
    type.record = &type_of<T>;
  } else {
    FieldTraits<T>::fill(type);
  }
  return type;
}

template <class O, class T>
constexpr void fill_optional(FieldType& type) {
  type.kind = FieldKind::kOptional;
  type.element = &field_type<T>;
  type.get = [](void* self) -> void* {
    O& optional = *static_cast<O*>(self);
    return optional.has_value() ? &*optional : nullptr;
  };
  type.emplace = [](void* self) -> void* { return &static_cast<O*>(self)->emplace(); };
  type.reset = [](void* self) { static_cast<O*>(self)->reset(); };
}

template <class T>
struct FieldTraits<std::optional<T>> {
  static constexpr void fill(FieldType& type) { fill_optional<std::optional<T>, T>(type); }
};
template <class T>
struct FieldTraits<Required<T>> {
  static constexpr void fill(FieldType& type) {
    fill_optional<Required<T>, T>(type);
    type.required = true;
  }
};

template <class L>
constexpr void fill_list(FieldType& type) {
  type.kind = FieldKind::kList;
  type.element = &field_type<typename L::value_type>;
  type.size = [](const void* self) { return static_cast<const L*>(self)->size(); };
  type.at = [](void* self, size_t i) -> void* { return &(*static_cast<L*>(self))[i]; };
}
template <class T>
struct FieldTraits<std::vector<T>> {
  static_assert(!std::is_same_v<T, bool>, "use std::vector<int64_t> or an enum");
  static constexpr void fill(FieldType& type) {
    fill_list<std::vector<T>>(type);
    type.resize = [](void* self, size_t size) { static_cast<std::vector<T>*>(self)->resize(size); };
  }
};
template <class T, size_t N>
struct FieldTraits<std::array<T, N>> {
  static constexpr void fill(FieldType& type) {
    fill_list<std::array<T, N>>(type);
    type.fixed_size = N;
  }
};

template <class T, class Less>
struct FieldTraits<std::map<std::string, T, Less>> {
  using Map = std::map<std::string, T, Less>;
  static constexpr void fill(FieldType& type) {
    type.kind = FieldKind::kMap;
    type.element = &field_type<T>;
    type.reset = [](void* self) { static_cast<Map*>(self)->clear(); };
    type.map_entries = [](void* self) {
      std::vector<MapEntry> entries;
      for (auto& [key, value] : *static_cast<Map*>(self)) entries.emplace_back(key, &value);
      return entries;
    };
    type.insert = [](void* self, std::string_view key) -> void* {
      return &(*static_cast<Map*>(self))[std::string(key)];
    };
  }
};

template <class... Ts>
struct FieldTraits<std::variant<Ts...>> {
  using Variant = std::variant<Ts...>;
  static constexpr const FieldType& (*kAlternatives[])() = {&field_type<Ts>...};
  template <size_t I>
  static void* select(void* self) {
    return &static_cast<Variant*>(self)->template emplace<I>();
  }
  static constexpr void fill(FieldType& type) {
    type.kind = FieldKind::kVariant;
    type.alternatives = kAlternatives;
    type.index = [](const void* self) { return static_cast<const Variant*>(self)->index(); };
    type.get = [](void* self) -> void* {
      return std::visit([](auto& held) -> void* { return &held; }, *static_cast<Variant*>(self));
    };
    type.select = [](void* self, size_t i) -> void* {
      return [&]<size_t... Is>(std::index_sequence<Is...>) {
        void* out = nullptr;
        ((i == Is ? (out = select<Is>(self), 0) : 0), ...);
        return out;
      }
      (std::index_sequence_for<Ts...>{});
    };
  }
};

template <class Base>
struct FieldTraits<Tpl<Base>> {
  static constexpr void fill(FieldType& type) {
    type.kind = FieldKind::kTpl;
    type.interface = type_name<Base>();
  }
};

template <class T>
[[gnu::noinline, gnu::cold]] const FieldType& field_type() {
  static constexpr FieldType type = make_field_type<T>();
  return type;
}

extern template const FieldType& field_type<bool>();
extern template const FieldType& field_type<int64_t>();
extern template const FieldType& field_type<double>();
extern template const FieldType& field_type<std::string>();
extern template const FieldType& field_type<Value>();
extern template const FieldType& field_type<std::optional<bool>>();
extern template const FieldType& field_type<std::optional<int64_t>>();
extern template const FieldType& field_type<std::optional<double>>();
extern template const FieldType& field_type<std::optional<std::string>>();
extern template const FieldType& field_type<std::vector<int64_t>>();
extern template const FieldType& field_type<std::vector<double>>();
extern template const FieldType& field_type<std::vector<std::string>>();
extern template const FieldType& field_type<std::optional<std::vector<int64_t>>>();
extern template const FieldType& field_type<std::optional<std::vector<std::string>>>();

}  // namespace pax::config
