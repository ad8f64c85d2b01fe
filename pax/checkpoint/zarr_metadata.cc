#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "pax/base/error.h"
#include "pax/base/text.h"
#include "pax/checkpoint/zarr.h"
#include "pax/checkpoint/zarr_dtype.h"

namespace pax {
namespace {

using Json = nlohmann::json;

constexpr int64_t kMostBytes = int64_t{1} << 50;
constexpr size_t kMostDims = 32;

DType parse_dtype(std::string_view where, const Json& value) {
  const std::optional<DType> dtype = value.is_string() ? parse_zarr_dtype(value.get<std::string>()) : std::nullopt;
  if (!dtype) fail<RuntimeError>("{}: element type {} is not supported", where, value.dump());
  return *dtype;
}

/// Sizes of at least `least` whose product is a plausible number of bytes.
Shape parse_dims(std::string_view where, const Json& value, int64_t least, DType dtype) {
  if (!value.is_array() || value.size() > kMostDims) fail<RuntimeError>("{}: {} is not a shape", where, value.dump());
  Shape shape;
  auto bytes = static_cast<int64_t>(byte_size(dtype));
  for (const Json& dim : value) {
    if (!dim.is_number_integer() || dim.get<int64_t>() < least ||
        __builtin_mul_overflow(bytes, std::max<int64_t>(dim.get<int64_t>(), 1), &bytes) || bytes > kMostBytes) {
      fail<RuntimeError>("{}: {} is not a plausible shape", where, value.dump());
    }
    shape.push_back(dim.get<int64_t>());
  }
  return shape;
}

bool is_zero(const Json& fill) {
  if (fill.is_boolean()) return !fill.get<bool>();
  return fill.is_number() && fill.get<double>() == 0;
}

Codec parse_codec(std::string_view where, const std::string& name) {
  if (name == "zstd") return Codec::kZstd;
  if (name == "gzip") return Codec::kGzip;
  if (name == "zlib") return Codec::kZlib;
  if (name == "crc32c") return Codec::kCrc32c;
  fail<RuntimeError>("{}: codec {} is not supported; known are zstd, gzip, zlib, crc32c", where, json_quote(name));
}

/// The codecs after `bytes`, which must come first and be little-endian.
std::vector<Codec> parse_codecs(std::string_view where, const Json& list) {
  std::vector<Codec> codecs;
  for (size_t i = 0; i < list.size(); ++i) {
    const std::string name = list[i].at("name").get<std::string>();
    if (i > 0) {
      codecs.push_back(parse_codec(where, name));
      continue;
    }
    if (name != "bytes") fail<RuntimeError>("{}: codec {} is not supported", where, json_quote(name));
    const Json configuration = list[i].value("configuration", Json::object());
    if (configuration.value("endian", "little") != "little") {
      fail<RuntimeError>("{}: big-endian arrays are not supported", where);
    }
  }
  return codecs;
}

ZarrArray::Shards parse_shards(std::string_view where, const Json& configuration, const ZarrArray& array) {
  ZarrArray::Shards shards;
  shards.chunk = parse_dims(where, configuration.at("chunk_shape"), 1, array.type.dtype);
  shards.codecs = parse_codecs(where, configuration.at("codecs"));
  for (const Codec codec : parse_codecs(where, configuration.at("index_codecs"))) {
    if (codec != Codec::kCrc32c) fail<RuntimeError>("{}: compressed shard index is not supported", where);
    shards.index_has_crc32c = true;
  }
  shards.index_at_end = configuration.value("index_location", "end") == "end";
  bool divides = shards.chunk.rank() == array.chunk.rank();
  for (int64_t d = 0; divides && d < shards.chunk.rank(); ++d) divides = array.chunk[d] % shards.chunk[d] == 0;
  if (!divides) {
    fail<RuntimeError>("{}: inner chunks {} do not divide the shard {}", where, to_string(shards.chunk),
                       to_string(array.chunk));
  }
  return shards;
}

void require_equal_rank(std::string_view where, const ZarrArray& array) {
  if (array.chunk.rank() != array.type.shape.rank()) {
    fail<RuntimeError>("{}: chunks {} for an array {}", where, to_string(array.chunk), to_string(array.type.shape));
  }
}

/// Parses `json` with `read`; what goes wrong there is an error of `where`.
template <class Read>
ZarrArray parse(std::string_view where, std::string_view json, int format, Read read) {
  try {
    const Json parsed = Json::parse(json);
    if (parsed.at("zarr_format").get<int>() != format) fail<RuntimeError>("{}: is not zarr version {}", where, format);
    ZarrArray array = read(parsed);
    require_equal_rank(where, array);
    return array;
  } catch (const Json::exception& error) {
    fail<RuntimeError>("{}: damaged: {}", where, error.what());
  }
}

}  // namespace

ZarrArray parse_zarr2(std::string_view where, std::string_view json) {
  return parse(where, json, 2, [&](const Json& parsed) {
    ZarrArray array;
    array.type.dtype = parse_dtype(where, parsed.at("dtype"));
    array.type.shape = parse_dims(where, parsed.at("shape"), 0, array.type.dtype);
    array.chunk = parse_dims(where, parsed.at("chunks"), 1, array.type.dtype);
    if (parsed.at("order") != "C") fail<RuntimeError>("{}: order {} is not supported", where, parsed["order"].dump());
    if (!parsed.at("filters").is_null()) fail<RuntimeError>("{}: filters are not supported", where);
    const Json& compressor = parsed.at("compressor");
    if (!compressor.is_null()) array.codecs = {parse_codec(where, compressor.at("id").get<std::string>())};
    array.separator = parsed.value("dimension_separator", ".") == "/" ? '/' : '.';
    array.absent_is_zero = is_zero(parsed.at("fill_value"));
    return array;
  });
}

ZarrArray parse_zarr3(std::string_view where, std::string_view json) {
  return parse(where, json, 3, [&](const Json& parsed) {
    ZarrArray array;
    array.type.dtype = parse_dtype(where, parsed.at("data_type"));
    array.type.shape = parse_dims(where, parsed.at("shape"), 0, array.type.dtype);
    const Json& grid = parsed.at("chunk_grid");
    if (grid.at("name") != "regular") fail<RuntimeError>("{}: chunk grid {} is not supported", where, grid.dump());
    array.chunk = parse_dims(where, grid.at("configuration").at("chunk_shape"), 1, array.type.dtype);
    const Json& keys = parsed.at("chunk_key_encoding");
    const bool version3_keys = keys.at("name") == "default";
    const Json configuration = keys.value("configuration", Json::object());
    array.key_prefix = version3_keys ? "c" : "";
    array.separator = configuration.value("separator", version3_keys ? "/" : ".") == "/" ? '/' : '.';
    const Json& codecs = parsed.at("codecs");
    if (codecs.size() == 1 && codecs[0].at("name") == "sharding_indexed") {
      array.shards = parse_shards(where, codecs[0].at("configuration"), array);
    } else {
      array.codecs = parse_codecs(where, codecs);
    }
    array.absent_is_zero = is_zero(parsed.at("fill_value"));
    return array;
  });
}

std::optional<ZarrArray> find_zarr(const ByteStore& store, std::string_view name) {
  const std::string zarr2 = fmt::format("{}/.zarray", name);
  if (const auto text = store.text(zarr2)) return parse_zarr2(store.describe(zarr2), *text);
  const std::string zarr3 = fmt::format("{}/zarr.json", name);
  if (const auto text = store.text(zarr3)) return parse_zarr3(store.describe(zarr3), *text);
  return std::nullopt;
}

std::string ZarrArray::chunk_key(const std::vector<int64_t>& index) const {
  std::string key = key_prefix;
  for (const int64_t i : index) {
    if (!key.empty()) key += separator;
    key += std::to_string(i);
  }
  return key.empty() ? "0" : key;
}

}  // namespace pax
