#pragma once

#include <atomic>
#include <concepts>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "pax/config/config_type.h"
#include "pax/config/field_traits.h"

namespace pax {

namespace config {
[[noreturn]] void fail_missing_required();
[[noreturn]] void fail_empty_tpl(std::string_view interface);
[[noreturn]] void fail_not_built(const ConfigType& type, std::string_view interface);
}  // namespace config

/// A member for which no default is right. Reading it before it is set throws ConfigError; `validate` finds it earlier,
/// with its path.
template <class T>
class Required {
 public:
  Required() = default;
  template <class U>
  requires std::convertible_to<U, T> &&(!std::same_as<std::remove_cvref_t<U>, Required>)Required(U&& value)
      : value_(std::forward<U>(value)) {}

  bool has_value() const { return value_.has_value(); }
  const T& value() const { return has_value() ? *value_ : (config::fail_missing_required(), *value_); }
  T& value() { return has_value() ? *value_ : (config::fail_missing_required(), *value_); }
  const T& operator*() const { return value(); }
  T& operator*() { return value(); }
  const T* operator->() const { return &value(); }
  T* operator->() { return &value(); }
  operator const T&() const { return value(); }

  T& emplace() { return value_.emplace(); }
  void reset() { value_.reset(); }

 private:
  std::optional<T> value_;
};

namespace config {

/// Says that a node stands in several places of one tree. See `mark_shared`.
struct SharedMark {
  int id = 0;       ///< From 1; unlike that of any other thing of the tree that was marked, clones included.
  int handles = 0;  ///< How many places of that tree hold the node.
  std::shared_ptr<std::atomic<int>> last_id;  ///< The tree's highest id.
};

/// A config object together with its class. Several handles may hold one node: then it is one thing.
struct Node {
  const ConfigType* type = nullptr;
  std::shared_ptr<void> data;
  std::shared_ptr<const SharedMark> mark;
};

/// A handle on a node of any class, or on none. Copies share the node.
class AnyTpl {
 public:
  AnyTpl() = default;
  AnyTpl(const AnyTpl& other);  // out of line: configs with many templates compile faster
  AnyTpl(AnyTpl&& other) noexcept;
  AnyTpl& operator=(const AnyTpl& other);
  AnyTpl& operator=(AnyTpl&& other) noexcept;
  ~AnyTpl();
  explicit AnyTpl(std::shared_ptr<Node> node) : node_(std::move(node)) {}
  /// Copies `config`, an object of class `type`, into a fresh node.
  AnyTpl(const ConfigType& type, const void* config);

  explicit operator bool() const { return node_ != nullptr; }
  bool operator==(std::nullptr_t) const { return node_ == nullptr; }
  bool same_node(const AnyTpl& other) const { return node_ == other.node_; }

  const std::shared_ptr<Node>& node() const { return node_; }
  /// nullptr when empty.
  const ConfigType* type() const { return node_ ? node_->type : nullptr; }
  /// "praxis.layers.Linear"; "" when empty.
  std::string_view class_name() const { return node_ ? node_->type->name : std::string_view(); }

  /// The config itself if it is of class `C`, else nullptr.
  template <Record C>
  C* as() {
    return node_ && node_->type->is(type_of<C>()) ? static_cast<C*>(node_->data.get()) : nullptr;
  }
  template <Record C>
  const C* as() const {
    return const_cast<AnyTpl*>(this)->as<C>();
  }

  /// Whether the config has a member at `path` ("dim", "ln_tpl.dim", "layers[2].name").
  bool has_field(std::string_view path) const;

  /// Sets the member at `path`, converting between numbers, optionals, lists and templates. Throws ConfigError naming
  /// class, path and the nearest name when there is no such member, or both types when the value does not fit.
  template <class T>
  void set(std::string_view path, const T& value) {
    if constexpr (Buildable<T>) {
      const AnyTpl tpl(type_of<T>(), &value);
      set_erased(path, &tpl, any_tpl_type());
    } else if constexpr (std::is_same_v<T, std::nullptr_t> || std::is_same_v<T, std::nullopt_t>) {
      const Value null;
      set_erased(path, &null, field_type<Value>());
    } else if constexpr (std::is_convertible_v<const T&, std::string_view> && !std::is_same_v<T, std::string>) {
      const std::string text{std::string_view(value)};
      set_erased(path, &text, field_type<std::string>());
    } else {
      set_erased(path, &value, field_type<T>());
    }
  }
  /// As `set`, but false when there is no such member.
  template <class T>
  bool try_set(std::string_view path, const T& value) {
    if (!has_field(path)) return false;
    set(path, value);
    return true;
  }
  /// The member at `path` as `T`. Throws ConfigError as `set` does.
  template <class T>
  T get(std::string_view path) const {
    T value{};
    get_erased(path, &value, field_type<T>());
    return value;
  }
  /// The member at `path` as `T`, or `otherwise` when there is no such member.
  template <class T>
  T get_or(std::string_view path, T otherwise) const {
    return has_field(path) ? get<T>(path) : otherwise;
  }

  /// Sets every member that `source` has too to the value it has there, templates shared. Throws ConfigError for a
  /// member of `source` that is absent here, unless `may_lack` names it, and for values that do not fit.
  void copy_fields_from(const AnyTpl& source, std::span<const std::string_view> may_lack = {});

  /// The mark of a node that `mark_shared` found in several places; nullptr for all others.
  const SharedMark* shared_mark() const { return node_ ? node_->mark.get() : nullptr; }

 protected:
  static const FieldType& any_tpl_type();

  void set_erased(std::string_view path, const void* value, const FieldType& type);
  void get_erased(std::string_view path, void* value, const FieldType& type) const;

  std::shared_ptr<Node> node_;
};

/// A deep copy: later changes of either do not show in the other. Nodes shared within it stay shared within it; nodes
/// that `mark_shared` found to be shared with something outside keep their mark.
AnyTpl clone(const AnyTpl& tpl);

/// `clone` without the mark of the top node: for templates that are made into several separate things.
AnyTpl clone_unshared(const AnyTpl& tpl);

}  // namespace config

/// A config of any class whose Product implements `Base`, or nothing. Copies share the node, as in Fiddle; `clone`
/// copies. `Base` may be incomplete until `build`.
template <class Base>
class Tpl : public config::AnyTpl {
 public:
  Tpl() = default;
  Tpl(std::nullptr_t) {}
  template <config::Buildable C>
  Tpl(const C& config) : AnyTpl(config::type_of<C>(), &config) {
    static_assert(std::is_base_of_v<Base, typename C::Product>, "the class built from this config is not a Base");
  }
  template <class Derived>
  requires(!std::is_same_v<Derived, Base> && std::is_base_of_v<Base, Derived>) Tpl(const Tpl<Derived>& other)
      : AnyTpl(other) {}

  Tpl clone() const { return Tpl(Checked{}, config::clone(*this)); }
  Tpl clone_unshared() const { return Tpl(Checked{}, config::clone_unshared(*this)); }

  /// The same node as a `Tpl<Base>`. Throws ConfigError when its Product does not implement `Base`.
  static Tpl from(const AnyTpl& tpl) {
    if (tpl && !tpl.type()->implements(config::type_name<Base>())) {
      config::fail_not_built(*tpl.type(), config::type_name<Base>());
    }
    return Tpl(Checked{}, tpl);
  }

  /// Constructs `Product(const Config&, BuildContext)`. A context with `std::shared_ptr<void>& shared_instance(const
  /// SharedMark&)` gives marked nodes one instance (held as `Kind`). Throws ConfigError when empty.
  template <class B = Base>
  requires config::HasBuildContext<B> std::shared_ptr<B> build(typename B::BuildContext context)
  const {
    if constexpr (requires { static_cast<std::shared_ptr<void>&>(context.shared_instance(*shared_mark())); }) {
      if (shared_mark() != nullptr) {
        std::shared_ptr<void>& slot = context.shared_instance(*shared_mark());
        if (!slot) slot = build_erased(config::type_name<typename B::Kind>(), &context);
        auto object = std::dynamic_pointer_cast<B>(std::static_pointer_cast<typename B::Kind>(slot));
        return object ? object : (config::fail_not_built(*type(), config::type_name<Base>()), nullptr);
      }
    }
    return std::static_pointer_cast<B>(build_erased(config::type_name<Base>(), &context));
  }
  /// Constructs `Product(const Config&)`.
  template <class B = Base>
  requires(!config::HasBuildContext<B>) std::shared_ptr<B> build()
  const { return std::static_pointer_cast<B>(build_erased(config::type_name<Base>(), nullptr)); }

 private:
  struct Checked {};
  Tpl(Checked, AnyTpl tpl) : AnyTpl(std::move(tpl)) {}

  std::shared_ptr<void> build_erased(std::string_view interface, void* context) const {
    if (!node_) config::fail_empty_tpl(config::type_name<Base>());
    std::shared_ptr<void> object = node_->type->build(node_->data.get(), interface, context);
    if (!object) config::fail_not_built(*node_->type, interface);
    return object;
  }
};

}  // namespace pax
