#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace pax::data {

/// Reads the protocol buffer wire format, field by field. Throws RuntimeError on malformed bytes.
class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : bytes_(bytes) {}

  enum class Type : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };
  struct Field {
    uint32_t number;
    Type type;
    uint64_t value;          ///< of numbers
    std::string_view bytes;  ///< of kBytes
  };

  /// The next field, or nothing at the end.
  std::optional<Field> next();

  bool empty() const { return bytes_.empty(); }
  /// What was not read yet.
  std::string_view rest() const { return bytes_; }
  uint64_t varint();
  uint32_t fixed32();
  uint64_t fixed64();

 private:
  std::string_view take(uint64_t size);
  std::string_view bytes_;
};

}  // namespace pax::data
