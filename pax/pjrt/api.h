#pragma once

// For the sources of this folder only: the C API and the one way to call it.

#include <pjrt_c_api.h>

#include <string>
#include <string_view>
#include <vector>

#include "pax/array/shape.h"
#include "pax/pjrt/plugin.h"

namespace pax {

/// Throws PluginError for `error`, which it frees; does nothing for null.
void check(const Plugin& plugin, PJRT_Error* error, std::string_view function);

/// Throws PluginError(kUnimplemented): the plugin's table ends before `function`, or has a hole there.
[[noreturn]] void fail_missing(const Plugin& plugin, std::string_view function, bool too_old);

/// The function at `member` of the plugin's table, after checking that the table reaches so far.
template <class Function>
Function* find_function(const Plugin& plugin, Function* PJRT_Api::*member, std::string_view name) {
  const PJRT_Api* api = plugin.api();
  const auto* at = reinterpret_cast<const char*>(&(api->*member));
  const size_t end = static_cast<size_t>(at - reinterpret_cast<const char*>(api)) + sizeof(Function*);
  if (end > api->struct_size) fail_missing(plugin, name, true);
  if (api->*member == nullptr) fail_missing(plugin, name, false);
  return api->*member;
}

/// Calls a function of the table: `call(plugin, &PJRT_Api::PJRT_Event_Await, "PJRT_Event_Await", args)`.
template <class Args>
void call(const Plugin& plugin, PJRT_Error* (*PJRT_Api::*member)(Args*), std::string_view name, Args& args) {
  check(plugin, find_function(plugin, member, name)(&args), name);
}

/// The same where nothing may throw: errors are dropped.
template <class Args>
void call_quietly(const Plugin& plugin, PJRT_Error* (*PJRT_Api::*member)(Args*), Args& args) noexcept {
  try {
    call(plugin, member, "", args);
  } catch (const PluginError&) {
  }
}

/// Our options in the API's words; they point into `values`.
std::vector<PJRT_NamedValue> to_named_values(const NamedValues& values);
NamedValues from_named_values(const PJRT_NamedValue* values, size_t count);

PJRT_Buffer_Type to_buffer_type(DType dtype);
/// Throws RuntimeError for types that no array here has.
DType from_buffer_type(PJRT_Buffer_Type type);

}  // namespace pax
