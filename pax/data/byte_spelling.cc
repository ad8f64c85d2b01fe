#include "pax/data/byte_spelling.h"

#include <array>
#include <cstdint>

#include "pax/data/unicode.h"

namespace pax::data {
namespace {

constexpr uint32_t kEndOfTable = 0x144;  // behind the last character

struct Tables {
  std::array<uint32_t, 256> characters{};
  std::array<int16_t, kEndOfTable> bytes{};
};

constexpr Tables make_tables() {
  Tables tables;
  for (auto& byte : tables.bytes) byte = -1;
  uint32_t next = 256;
  for (uint32_t b = 0; b < 256; ++b) {
    const bool itself = (b >= 0x21 && b <= 0x7E) || (b >= 0xA1 && b <= 0xAC) || b >= 0xAE;
    tables.characters[b] = itself ? b : next++;
    tables.bytes[tables.characters[b]] = static_cast<int16_t>(b);
  }
  return tables;
}

constexpr Tables kTables = make_tables();

}  // namespace

std::string spell_bytes(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size() + bytes.size() / 4);
  for (const char c : bytes) append_utf8(kTables.characters[static_cast<uint8_t>(c)], out);
  return out;
}

std::optional<std::string> spelled_bytes(std::string_view token) {
  std::string bytes;
  for (size_t at = 0; at < token.size();) {
    const Utf8Char c = utf8_at(token, at);
    if (c.code_point >= kEndOfTable || kTables.bytes[c.code_point] < 0) return std::nullopt;
    bytes.push_back(static_cast<char>(kTables.bytes[c.code_point]));
    at += c.length;
  }
  return bytes;
}

}  // namespace pax::data
