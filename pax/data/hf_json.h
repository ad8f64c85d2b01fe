#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "pax/base/error.h"

namespace pax::data {

// Looks at the parts of a tokenizer.json. All throw RuntimeError saying what belongs where.

inline const nlohmann::json& json_member(const nlohmann::json& object, const char* name) {
  if (!object.is_object() || !object.contains(name)) fail<RuntimeError>("has no \"{}\" where one belongs", name);
  return object.at(name);
}

inline std::string json_text(const nlohmann::json& object, const char* name) {
  const nlohmann::json& value = json_member(object, name);
  if (!value.is_string()) fail<RuntimeError>("\"{}\" is no text", name);
  return value.get<std::string>();
}

/// Nothing there, or null: `otherwise`.
inline std::string json_text_or(const nlohmann::json& object, const char* name, const std::string& otherwise) {
  if (!object.is_object() || !object.contains(name) || object.at(name).is_null()) return otherwise;
  return json_text(object, name);
}

inline bool json_flag(const nlohmann::json& object, const char* name, bool otherwise) {
  if (!object.is_object() || !object.contains(name) || !object.at(name).is_boolean()) return otherwise;
  return object.at(name).get<bool>();
}

inline int64_t json_number(const nlohmann::json& object, const char* name, int64_t otherwise) {
  if (!object.is_object() || !object.contains(name) || !object.at(name).is_number_integer()) return otherwise;
  return object.at(name).get<int64_t>();
}

/// The list under `name`.
inline const nlohmann::json& json_list(const nlohmann::json& object, const char* name) {
  const nlohmann::json& value = json_member(object, name);
  if (!value.is_array()) fail<RuntimeError>("\"{}\" is no list", name);
  return value;
}

/// Whether `name` is there and not null.
inline bool json_has(const nlohmann::json& object, const char* name) {
  return object.is_object() && object.contains(name) && !object.at(name).is_null();
}

/// How deep normalizers, pre-tokenizers and decoders may stand inside each other.
inline constexpr int kMaxJsonDepth = 16;

}  // namespace pax::data
