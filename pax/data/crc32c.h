#pragma once

#include <cstdint>
#include <string_view>

namespace pax::data {

/// CRC-32C (Castagnoli) of `bytes`.
uint32_t crc32c(std::string_view bytes);

/// The rotated form that TFRecord files hold.
uint32_t masked_crc32c(std::string_view bytes);

}  // namespace pax::data
