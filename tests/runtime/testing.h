#pragma once

#include <memory>
#include <string>

#include "pax/runtime/device_array.h"
#include "pax/runtime/platform.h"

namespace pax {

/// A client of the default CPU plugin with `devices` virtual devices, made once a test program.
inline std::shared_ptr<const Client> default_client(int64_t devices = 1) {
  static std::map<int64_t, std::shared_ptr<const Client>> clients;
  auto& client = clients[devices];
  if (client == nullptr) client = open_client({.cpu_device_count = devices, .deps_dir = PAX_DEPS_DIR});
  return client;
}

/// The message of the error that `action` throws.
template <class Action>
std::string error_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "(no error)";
}

}  // namespace pax
