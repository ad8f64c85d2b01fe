#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "pax/config/field.h"

// How the descriptor of a member type is made from the type.

namespace pax::config {

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
