#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace pax::data {

// GPT-2's spelling of bytes: printable Latin-1 characters stand for themselves, the other bytes for U+0100 and up.

/// Every byte of `bytes` as its character, in UTF-8.
std::string spell_bytes(std::string_view bytes);

/// The bytes of a spelled token; nothing when a character of it stands for no byte.
std::optional<std::string> spelled_bytes(std::string_view token);

}  // namespace pax::data
