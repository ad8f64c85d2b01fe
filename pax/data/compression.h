#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace pax::data {

enum class Compression { kNone, kGzip, kZstd, kBrotli, kSnappy };

/// By the first bytes: gzip and zstd files say so.
Compression detect_compression(std::string_view bytes);

/// Gives the expanded bytes of `bytes` to `sink` piece by piece (gzip and zstd, also several members one after the
/// other). Throws RuntimeError saying what is wrong and at which offset of `bytes`; what came before is in the sink.
void expand_to(Compression compression, std::string_view bytes, const std::function<void(std::string_view)>& sink);

/// The expanded bytes, which must be exactly `size` bytes. Throws RuntimeError otherwise.
std::string expand_exactly(Compression compression, std::string_view bytes, uint64_t size);

}  // namespace pax::data
