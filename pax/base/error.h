#pragma once

#include <fmt/core.h>

#include <stdexcept>
#include <string>
#include <string_view>

namespace pax {

/// Every error of this library. `what()` is one line: the place, both values and the way out.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A config that cannot be right: found before anything is traced. Names the config path.
class ConfigError : public Error {
 public:
  using Error::Error;
};

/// Operands that do not fit together: found while a program is being built. Names layer path and op.
class ShapeError : public Error {
 public:
  using Error::Error;
};

/// Files, plugins, devices and data.
class RuntimeError : public Error {
 public:
  using Error::Error;
};

/// Throws `E` with a formatted message: `fail<RuntimeError>("{}: no such file", path)`.
template <class E, class... Args>
[[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) {
  throw E(fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace pax
