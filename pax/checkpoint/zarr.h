#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pax/array/tree.h"
#include "pax/checkpoint/byte_store.h"
#include "pax/checkpoint/codec.h"
#include "pax/checkpoint/region.h"

namespace pax {

/// How a zarr array (version 2 or 3) lies in a store, from its `.zarray` or `zarr.json`.
struct ZarrArray {
  /// zarr v3's sharding_indexed: a chunk of the grid is a file of inner chunks and an index of them.
  struct Shards {
    Shape chunk;
    std::vector<Codec> codecs;
    bool index_has_crc32c = false;
    bool index_at_end = true;
  };

  TensorType type;
  Shape chunk;
  std::string key_prefix;  ///< "" (v2) or "c" (v3)
  char separator = '.';
  std::vector<Codec> codecs;
  std::optional<Shards> shards;
  /// True when chunks equal to zero may be absent.
  bool absent_is_zero = false;

  /// "0.2" (v2), "c/0/2" (v3)
  std::string chunk_key(const std::vector<int64_t>& index) const;
};

/// Throw RuntimeError, beginning with `where`, when the text is damaged or says what is not supported.
ZarrArray parse_zarr2(std::string_view where, std::string_view json);
ZarrArray parse_zarr3(std::string_view where, std::string_view json);

/// The array of that name; nothing when the store has none.
std::optional<ZarrArray> find_zarr(const ByteStore& store, std::string_view name);

/// Calls that together fill `out`, the bytes of `region`, in any order and from any threads. Everything they use must
/// outlive them.
std::vector<std::function<void()>> plan_read(const ByteStore& store, const std::string& name, const ZarrArray& array,
                                             const Region& region, std::span<std::byte> out);

}  // namespace pax
