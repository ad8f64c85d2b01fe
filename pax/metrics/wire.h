#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace pax {

/// Writes a message in protobuf's wire format, field by field.
class WireWriter {
 public:
  WireWriter& varint(int field, uint64_t value) {
    key(field, 0);
    raw_varint(value);
    return *this;
  }
  WireWriter& fixed64(int field, double value) { return fixed(field, 1, value); }
  WireWriter& fixed32(int field, float value) { return fixed(field, 5, value); }
  WireWriter& bytes(int field, std::string_view value) {
    key(field, 2);
    raw_varint(value.size());
    out_.append(value);
    return *this;
  }
  WireWriter& message(int field, const WireWriter& value) { return bytes(field, value.out_); }

  const std::string& out() const { return out_; }

 private:
  void key(int field, int type) { raw_varint(static_cast<uint64_t>(field) << 3 | static_cast<uint64_t>(type)); }
  void raw_varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) out_.push_back(static_cast<char>(value | 0x80));
    out_.push_back(static_cast<char>(value));
  }
  template <class T>
  WireWriter& fixed(int field, int type, T value) {
    key(field, type);
    char raw[sizeof(T)];
    std::memcpy(raw, &value, sizeof(T));
    out_.append(raw, sizeof(T));
    return *this;
  }

  std::string out_;
};

}  // namespace pax
