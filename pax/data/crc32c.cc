#include "pax/data/crc32c.h"

#include <isa-l/crc.h>

#include <algorithm>

namespace pax::data {

uint32_t crc32c(std::string_view bytes) {
  constexpr size_t kStep = size_t{1} << 30;  // the library counts in int
  uint32_t crc = 0xFFFFFFFF;
  while (!bytes.empty()) {
    const std::string_view step = bytes.substr(0, kStep);
    auto* data = reinterpret_cast<unsigned char*>(const_cast<char*>(step.data()));
    crc = crc32_iscsi(data, static_cast<int>(step.size()), crc);
    bytes.remove_prefix(step.size());
  }
  return ~crc;
}

uint32_t masked_crc32c(std::string_view bytes) {
  const uint32_t crc = crc32c(bytes);
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8U;
}

}  // namespace pax::data
