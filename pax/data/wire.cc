#include "pax/data/wire.h"

#include <cstring>

#include "pax/base/error.h"

namespace pax::data {

std::string_view WireReader::take(uint64_t size) {
  if (size > bytes_.size()) fail<RuntimeError>("protocol buffer: {} bytes wanted, {} left", size, bytes_.size());
  const std::string_view taken = bytes_.substr(0, size);
  bytes_.remove_prefix(size);
  return taken;
}

uint64_t WireReader::varint() {
  uint64_t value = 0;
  for (int shift = 0; shift < 70; shift += 7) {
    if (bytes_.empty()) fail<RuntimeError>("protocol buffer: a number is cut short");
    const auto byte = static_cast<uint8_t>(bytes_.front());
    bytes_.remove_prefix(1);
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  fail<RuntimeError>("protocol buffer: a number is longer than ten bytes");
}

uint32_t WireReader::fixed32() {
  uint32_t value = 0;
  std::memcpy(&value, take(4).data(), 4);
  return value;
}

uint64_t WireReader::fixed64() {
  uint64_t value = 0;
  std::memcpy(&value, take(8).data(), 8);
  return value;
}

std::optional<WireReader::Field> WireReader::next() {
  if (bytes_.empty()) return std::nullopt;
  const uint64_t key = varint();
  Field field{static_cast<uint32_t>(key >> 3), static_cast<Type>(key & 7), 0, {}};
  if (key >> 3 == 0 || key >> 32 != 0) fail<RuntimeError>("protocol buffer: {} is no field key", key);
  switch (key & 7) {
    case 0:
      field.value = varint();
      return field;
    case 1:
      field.value = fixed64();
      return field;
    case 2:
      field.bytes = take(varint());
      return field;
    case 5:
      field.value = fixed32();
      return field;
    default:
      fail<RuntimeError>("protocol buffer: wire type {} of field {} is not supported", key & 7, key >> 3);
  }
}

}  // namespace pax::data
