#include "pax/data/compression.h"

#include <brotli/decode.h>
#include <isa-l/igzip_lib.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "pax/base/error.h"

namespace pax::data {
namespace {

constexpr size_t kOutput = size_t{1} << 18;
/// What one block of a record file may expand to.
constexpr uint64_t kLargestBlock = uint64_t{2} << 30;

using Sink = std::function<void(std::string_view)>;

void expand_gzip(std::string_view bytes, const Sink& sink) {
  std::vector<char> output(kOutput);
  const size_t total = bytes.size();
  auto state = std::make_unique<inflate_state>();
  bool first = true;
  while (first || !bytes.empty()) {
    first = false;
    isal_inflate_init(state.get());
    state->crc_flag = ISAL_GZIP;
    do {
      // The library counts in 32 bits.
      const size_t step = std::min<size_t>(bytes.size(), size_t{1} << 30);
      state->next_in = reinterpret_cast<uint8_t*>(const_cast<char*>(bytes.data()));
      state->avail_in = static_cast<uint32_t>(step);
      state->next_out = reinterpret_cast<uint8_t*>(output.data());
      state->avail_out = static_cast<uint32_t>(output.size());
      const int status = isal_inflate(state.get());
      const size_t used = step - state->avail_in;
      const size_t made = output.size() - state->avail_out;
      if (made > 0) sink(std::string_view(output.data(), made));
      bytes.remove_prefix(used);
      if (status != ISAL_DECOMP_OK && status != ISAL_END_INPUT) {
        fail<RuntimeError>("gzip data is damaged near byte {} (code {})", total - bytes.size(), status);
      }
      if (used == 0 && made == 0 && state->block_state != ISAL_BLOCK_FINISH) {
        fail<RuntimeError>("gzip data ends too early, after {} bytes", total);
      }
    } while (state->block_state != ISAL_BLOCK_FINISH);
    // Zero bytes after the last member are padding.
    while (!bytes.empty() && bytes.front() == '\0') bytes.remove_prefix(1);
  }
}

void expand_zstd(std::string_view bytes, const Sink& sink) {
  std::vector<char> output(kOutput);
  const std::unique_ptr<ZSTD_DStream, size_t (*)(ZSTD_DStream*)> stream(ZSTD_createDStream(), ZSTD_freeDStream);
  ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
  size_t hint = 1;
  while (true) {
    ZSTD_outBuffer out{output.data(), output.size(), 0};
    hint = ZSTD_decompressStream(stream.get(), &out, &in);
    if (ZSTD_isError(hint) != 0) {
      fail<RuntimeError>("zstd data is damaged near byte {} ({})", in.pos, ZSTD_getErrorName(hint));
    }
    if (out.pos > 0) sink(std::string_view(output.data(), out.pos));
    if (in.pos == in.size && out.pos < out.size) break;
  }
  if (hint != 0) fail<RuntimeError>("zstd data ends too early, after {} bytes", bytes.size());
}

void expand_brotli(std::string_view bytes, const Sink& sink) {
  std::vector<uint8_t> output(kOutput);
  const std::unique_ptr<BrotliDecoderState, void (*)(BrotliDecoderState*)> state(
      BrotliDecoderCreateInstance(nullptr, nullptr, nullptr), BrotliDecoderDestroyInstance);
  size_t left = bytes.size();
  const auto* next = reinterpret_cast<const uint8_t*>(bytes.data());
  while (true) {
    size_t room = output.size();
    uint8_t* to = output.data();
    const BrotliDecoderResult result = BrotliDecoderDecompressStream(state.get(), &left, &next, &room, &to, nullptr);
    if (room < output.size()) sink({reinterpret_cast<const char*>(output.data()), output.size() - room});
    if (result == BROTLI_DECODER_RESULT_SUCCESS) break;
    if (result == BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT) continue;
    fail<RuntimeError>("brotli data is damaged near byte {} of {}", bytes.size() - left, bytes.size());
  }
  if (left != 0) fail<RuntimeError>("brotli data has {} bytes too many", left);
}

/// Snappy's block format: a size, then literals and copies.
std::string expand_snappy(std::string_view bytes, uint64_t size) {
  size_t at = 0;
  const auto take = [&](size_t count) {
    uint64_t value = 0;
    if (bytes.size() - at < count) fail<RuntimeError>("snappy data ends too early, after {} bytes", bytes.size());
    std::memcpy(&value, bytes.data() + at, count);
    at += count;
    return value;
  };
  uint64_t claimed = 0;
  for (int shift = 0;; shift += 7) {
    const uint64_t byte = take(1);
    if (shift > 28) fail<RuntimeError>("snappy data is damaged near byte {}", at);
    claimed |= (byte & 0x7f) << shift;
    if (byte < 0x80) break;
  }
  if (claimed != size) fail<RuntimeError>("snappy data expands to {} bytes, not {}", claimed, size);
  std::string out;
  while (at < bytes.size()) {
    const uint64_t tag = take(1);
    uint64_t length = (tag >> 2) + 1;
    if ((tag & 3) == 0) {
      if (length > 60) length = take(length - 60) + 1;
      if (bytes.size() - at < length || size - out.size() < length) {
        fail<RuntimeError>("snappy data is damaged near byte {}", at);
      }
      out.append(bytes.substr(at, length));
      at += length;
      continue;
    }
    uint64_t distance = 0;
    if ((tag & 3) == 1) {
      length = ((tag >> 2) & 7) + 4;
      distance = ((tag >> 5) << 8) | take(1);
    } else {
      distance = take((tag & 3) == 2 ? 2 : 4);
    }
    if (distance == 0 || distance > out.size() || size - out.size() < length) {
      fail<RuntimeError>("snappy data is damaged near byte {}", at);
    }
    for (uint64_t i = 0; i < length; ++i) out.push_back(out[out.size() - distance]);
  }
  return out;
}

}  // namespace

Compression detect_compression(std::string_view bytes) {
  if (bytes.starts_with("\x1f\x8b")) return Compression::kGzip;
  if (bytes.starts_with("\x28\xb5\x2f\xfd")) return Compression::kZstd;
  return Compression::kNone;
}

void expand_to(Compression compression, std::string_view bytes, const Sink& sink) {
  switch (compression) {
    case Compression::kNone:
      return sink(bytes);
    case Compression::kGzip:
      return expand_gzip(bytes, sink);
    case Compression::kZstd:
      return expand_zstd(bytes, sink);
    case Compression::kBrotli:
      return expand_brotli(bytes, sink);
    case Compression::kSnappy:
      fail<RuntimeError>("snappy data can only be expanded to a known size");
  }
}

std::string expand_exactly(Compression compression, std::string_view bytes, uint64_t size) {
  if (size > kLargestBlock)
    fail<RuntimeError>("a block claims to expand to {} bytes, more than {}", size, kLargestBlock);
  std::string out;
  if (compression == Compression::kSnappy) {
    out = expand_snappy(bytes, size);
  } else {
    out.reserve(std::min<uint64_t>(size, bytes.size() * 64));
    expand_to(compression, bytes, [&](std::string_view piece) {
      if (piece.size() > size - out.size()) fail<RuntimeError>("a block expands to more than its {} bytes", size);
      out += piece;
    });
  }
  if (out.size() != size) fail<RuntimeError>("a block expands to {} bytes, not {}", out.size(), size);
  return out;
}

}  // namespace pax::data
