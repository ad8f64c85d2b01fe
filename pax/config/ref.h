#pragma once

#include "pax/config/tpl.h"

namespace pax::config {

/// A config of any class, borrowed for the length of a call. Functions that change it say so.
struct Ref {
  const ConfigType* type = nullptr;
  void* data = nullptr;

  Ref(const ConfigType& of, void* at) : type(&of), data(at) {}
  template <Record C>
  Ref(const C& config) : type(&type_of<C>()), data(const_cast<C*>(&config)) {}
  /// Throws ConfigError when `tpl` is empty.
  Ref(const AnyTpl& tpl);
};

}  // namespace pax::config
