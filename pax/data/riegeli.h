#pragma once

#include <array>
#include <cstdint>

namespace pax::data {

// The layout of Riegeli files: chunks, interrupted by a 24-byte block header at each multiple of 64 KiB.

inline constexpr uint64_t kRiegeliBlock = 1 << 16;
inline constexpr uint64_t kRiegeliBlockHeader = 24;
inline constexpr uint64_t kRiegeliChunkHeader = 40;
/// The key of every HighwayHash in the format: "Riegeli/" and "records\n", twice.
inline constexpr std::array<uint64_t, 4> kRiegeliHashKey = {0x2f696c6567656952, 0x0a7364726f636572,
                                                            0x2f696c6567656952, 0x0a7364726f636572};

}  // namespace pax::data
