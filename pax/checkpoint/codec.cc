#include "pax/checkpoint/codec.h"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "pax/base/error.h"
#include "pax/base/hash.h"

namespace pax {
namespace {

/// zlib's and gzip's form alike.
std::vector<std::byte> inflate_all(std::string_view where, std::span<const std::byte> bytes, size_t most) {
  constexpr int kEitherHeader = 15 + 32;
  constexpr size_t kStep = size_t{1} << 30;  // zlib counts in 32 bits
  z_stream stream{};
  if (inflateInit2(&stream, kEitherHeader) != Z_OK) fail<RuntimeError>("{}: cannot start zlib", where);
  const std::unique_ptr<z_stream, int (*)(z_stream*)> end(&stream, inflateEnd);
  std::vector<std::byte> out;
  size_t used = 0;
  size_t written = 0;
  int result = Z_OK;
  while (result == Z_OK) {
    // Grows by what arrives, so that a small file cannot ask for much memory.
    if (written == out.size()) out.resize(std::min(most, std::max(4 * bytes.size() + 64, 2 * written)));
    stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(bytes.data())) + used;
    stream.avail_in = static_cast<uInt>(std::min(kStep, bytes.size() - used));
    stream.next_out = reinterpret_cast<Bytef*>(out.data()) + written;
    stream.avail_out = static_cast<uInt>(std::min(kStep, out.size() - written));
    const uInt in = stream.avail_in;
    const uInt room = stream.avail_out;
    result = inflate(&stream, Z_NO_FLUSH);
    used += in - stream.avail_in;
    written += room - stream.avail_out;
    if (result == Z_OK && in == stream.avail_in && room == stream.avail_out) break;
  }
  if (result != Z_STREAM_END) fail<RuntimeError>("{}: damaged gzip data", where);
  out.resize(written);
  return out;
}

}  // namespace

std::vector<std::byte> unpack_zstd(std::string_view where, std::span<const std::byte> bytes, size_t most) {
  const std::unique_ptr<ZSTD_DStream, size_t (*)(ZSTD_DStream*)> stream(ZSTD_createDStream(), ZSTD_freeDStream);
  std::vector<std::byte> out;
  ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
  size_t left = 1;
  for (size_t written = 0; left != 0;) {
    if (written == out.size()) {
      if (written == most) fail<RuntimeError>("{}: zstd data unpacks to more than {} bytes", where, most);
      out.resize(std::min(most, std::max(4 * bytes.size() + 64, 2 * written)));
    }
    ZSTD_outBuffer to{out.data(), out.size(), written};
    const size_t before = in.pos;
    left = ZSTD_decompressStream(stream.get(), &to, &in);
    if (ZSTD_isError(left) != 0) fail<RuntimeError>("{}: damaged zstd data: {}", where, ZSTD_getErrorName(left));
    if (left != 0 && in.pos == in.size && before == in.pos && to.pos == written) {
      fail<RuntimeError>("{}: zstd data is cut short", where);
    }
    written = to.pos;
    if (left == 0) {
      if (in.pos != in.size) fail<RuntimeError>("{}: {} bytes after the zstd data", where, in.size - in.pos);
      out.resize(written);
    }
  }
  return out;
}

std::span<const std::byte> strip_crc32c(std::string_view where, std::span<const std::byte> bytes) {
  uint32_t stored = 0;
  if (bytes.size() < sizeof(stored)) fail<RuntimeError>("{}: {} bytes are too few for a checksum", where, bytes.size());
  const auto content = bytes.first(bytes.size() - sizeof(stored));
  std::memcpy(&stored, content.data() + content.size(), sizeof(stored));
  if (crc32c(content) != stored) fail<RuntimeError>("{}: damaged: its checksum does not fit", where);
  return content;
}

std::vector<std::byte> decode(std::string_view where, std::span<const Codec> codecs, std::vector<std::byte> bytes,
                              size_t expected) {
  constexpr size_t kChecksums = 64;  // room for what checksums add to each stage
  for (size_t i = codecs.size(); i-- > 0;) {
    switch (codecs[i]) {
      case Codec::kZstd:
        bytes = unpack_zstd(where, bytes, expected + kChecksums);
        break;
      case Codec::kGzip:
      case Codec::kZlib:
        bytes = inflate_all(where, bytes, expected + kChecksums);
        break;
      case Codec::kCrc32c:
        bytes.resize(strip_crc32c(where, bytes).size());
        break;
    }
  }
  if (bytes.size() != expected) {
    fail<RuntimeError>("{}: holds {} bytes, the array's chunk has {}", where, bytes.size(), expected);
  }
  return bytes;
}

}  // namespace pax
