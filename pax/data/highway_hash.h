#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace pax::data {

/// 64-bit HighwayHash (J. Alakuijala, B. Cox, J. Wassenberg, "Fast keyed hash/pseudo-random function using SIMD
/// multiply and permute", 2016).
uint64_t highway_hash64(std::string_view bytes, const std::array<uint64_t, 4>& key);

}  // namespace pax::data
