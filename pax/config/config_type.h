#pragma once

#include <array>
#include <memory>
#include <string_view>
#include <type_traits>

#include "pax/config/field.h"

// How the descriptor of a config class is made from the class.

namespace pax::config {

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

}  // namespace pax::config
