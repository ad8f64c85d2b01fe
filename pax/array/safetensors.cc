#include "pax/array/safetensors.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "pax/base/error.h"
#include "pax/base/text.h"

namespace pax {
namespace {

using Json = nlohmann::json;

constexpr size_t kLengthBytes = 8;
constexpr size_t kMaxHeaderBytes = 100'000'000;  // the limit of the reference implementation
constexpr std::string_view kMetadata = "__metadata__";

constexpr std::pair<std::string_view, DType> kNames[] = {
    {"BOOL", DType::kPred},        {"I8", DType::kS8},          {"I16", DType::kS16},
    {"I32", DType::kS32},          {"I64", DType::kS64},        {"U8", DType::kU8},
    {"U16", DType::kU16},          {"U32", DType::kU32},        {"U64", DType::kU64},
    {"F8_E4M3", DType::kF8E4M3FN}, {"F8_E5M2", DType::kF8E5M2}, {"BF16", DType::kBF16},
    {"F16", DType::kF16},          {"F32", DType::kF32},        {"F64", DType::kF64},
};

/// A tensor's place in the file, as its header entry says.
struct Entry {
  TensorType type;
  size_t begin = 0;
  size_t end = 0;
};

/// The header's length, checked against the file.
size_t header_size(const std::string& where, std::string_view file) {
  if (file.size() < kLengthBytes)
    fail<RuntimeError>("{}: {} bytes are too few for a safetensors file", where, file.size());
  uint64_t size = 0;
  std::memcpy(&size, file.data(), sizeof(size));
  if (size > kMaxHeaderBytes) {
    fail<RuntimeError>("{}: header of {} bytes, at most {} are allowed; is this a safetensors file?", where, size,
                       kMaxHeaderBytes);
  }
  if (size > file.size() - kLengthBytes) {
    fail<RuntimeError>("{}: header of {} bytes, but the file has only {}; it was cut short", where, size, file.size());
  }
  return size;
}

/// The header as JSON. Nesting and names that come twice are refused while parsing.
Json parse_header(const std::string& where, std::string_view text) {
  std::set<std::string> names;
  const auto check = [&](int depth, Json::parse_event_t event, Json& value) {
    if (depth > 3) fail<RuntimeError>("{}: safetensors header is nested too deeply", where);
    if (event == Json::parse_event_t::key && depth == 1 && !names.insert(value.get<std::string>()).second) {
      fail<RuntimeError>("{}: tensor {} comes twice", where, json_quote(value.get<std::string>()));
    }
    return true;
  };
  try {
    Json header = Json::parse(text, check);
    if (!header.is_object()) fail<RuntimeError>("{}: safetensors header is not a JSON object", where);
    return header;
  } catch (const Json::exception& error) {
    fail<RuntimeError>("{}: safetensors header is not valid JSON: {}", where, error.what());
  }
}

/// A non-negative whole number below 2^63.
int64_t whole_number(const std::string& where, const Json& value) {
  if (!value.is_number_unsigned() || value.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX)) {
    fail<RuntimeError>("{}: {} is not a whole number", where, value.dump());
  }
  return value.get<int64_t>();
}

DType parse_safetensors_dtype(const std::string& where, const Json& value) {
  for (const auto& [name, dtype] : kNames) {
    if (value.is_string() && value.get_ref<const std::string&>() == name) return dtype;
  }
  fail<RuntimeError>("{}: element type {} is not supported", where, value.dump());
}

Entry parse_entry(const std::string& where, const Json& json) {
  if (!json.is_object() || !json.contains("dtype") || !json.contains("shape") || !json.contains("data_offsets")) {
    fail<RuntimeError>("{}: needs dtype, shape and data_offsets", where);
  }
  Entry entry{.type = {.dtype = parse_safetensors_dtype(where, json["dtype"])}};
  const Json& shape = json["shape"];
  const Json& offsets = json["data_offsets"];
  if (!shape.is_array()) fail<RuntimeError>("{}: shape is not a list", where);
  if (!offsets.is_array() || offsets.size() != 2) fail<RuntimeError>("{}: data_offsets is not a pair", where);
  entry.begin = static_cast<size_t>(whole_number(where, offsets[0]));
  entry.end = static_cast<size_t>(whole_number(where, offsets[1]));
  int64_t bytes = static_cast<int64_t>(byte_size(entry.type.dtype));
  for (const Json& item : shape) {
    const int64_t dim = whole_number(where, item);
    entry.type.shape.push_back(dim);
    if (__builtin_mul_overflow(bytes, dim, &bytes))
      fail<RuntimeError>("{}: shape {} is too large", where, shape.dump());
  }
  if (entry.end < entry.begin || entry.end - entry.begin != static_cast<size_t>(bytes)) {
    fail<RuntimeError>("{}: {} takes {} bytes but data_offsets are {} to {}", where, to_string(entry.type), bytes,
                       entry.begin, entry.end);
  }
  return entry;
}

/// The tensors must cover the data exactly: no gap, no overlap, nothing beyond its end.
void require_exact_cover(const std::string& where, const Tree<Entry>& entries, size_t data_bytes) {
  std::vector<std::pair<std::pair<size_t, size_t>, std::string_view>> order;
  for (const auto& [name, entry] : entries) order.push_back({{entry.begin, entry.end}, name});
  std::sort(order.begin(), order.end());
  size_t end = 0;
  for (const auto& [range, name] : order) {
    if (range.first != end) {
      fail<RuntimeError>("{}: tensor {} begins at byte {} but the one before it ends at {}", where, json_quote(name),
                         range.first, end);
    }
    if (range.second > data_bytes) {
      fail<RuntimeError>("{}: tensor {} ends at byte {} but the file holds {}; it was cut short", where,
                         json_quote(name), range.second, data_bytes);
    }
    end = range.second;
  }
  if (end != data_bytes) {
    fail<RuntimeError>("{}: tensors take {} bytes but the file holds {}", where, end, data_bytes);
  }
}

std::string_view safetensors_name(const std::string& where, DType dtype) {
  for (const auto& [name, known] : kNames) {
    if (known == dtype) return name;
  }
  fail<RuntimeError>("{}: safetensors has no {}; convert to int8 or uint8 first", where, dtype_name(dtype));
}

/// Widest elements first, then by name: every tensor is aligned to its element.
std::vector<const HostTree::value_type*> write_order(const HostTree& tensors) {
  std::vector<const HostTree::value_type*> order;
  for (const auto& item : tensors) order.push_back(&item);
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    return byte_size(a->second.dtype()) > byte_size(b->second.dtype());
  });
  return order;
}

}  // namespace

SafetensorsReader::SafetensorsReader(const std::filesystem::path& path)
    : path_(path), file_(std::make_shared<MappedFile>(path)) {
  const std::string where = path.string();
  const std::string_view text = file_->text();
  const size_t header_bytes = header_size(where, text);
  const size_t data = kLengthBytes + header_bytes;
  Tree<Entry> entries;
  const Json header = parse_header(where, text.substr(kLengthBytes, header_bytes));
  for (const auto& [name, json] : header.items()) {
    const std::string place = fmt::format("{}: tensor {}", where, json_quote(name));
    if (name != kMetadata) {
      entries.emplace(name, parse_entry(place, json));
      continue;
    }
    if (!json.is_object()) fail<RuntimeError>("{}: {} is not an object", where, kMetadata);
    for (const auto& [key, value] : json.items()) {
      if (!value.is_string()) fail<RuntimeError>("{}: {} entry {} is not text", where, kMetadata, json_quote(key));
      metadata_.emplace(key, value.get<std::string>());
    }
  }
  require_exact_cover(where, entries, text.size() - data);
  for (auto& [name, entry] : entries) {
    offsets_.emplace(name, data + entry.begin);
    types_.emplace(name, std::move(entry.type));
  }
}

HostArray SafetensorsReader::read(std::string_view name) const {
  const auto type = types_.find(name);
  if (type == types_.end()) fail<RuntimeError>("{}: has no tensor {}", path_.string(), json_quote(name));
  const std::byte* begin = file_->bytes().data() + offsets_.find(name)->second;
  if (reinterpret_cast<uintptr_t>(begin) % byte_size(type->second.dtype) == 0) {
    return HostArray(type->second, std::shared_ptr<const std::byte>(file_, begin));
  }
  HostArray copy(type->second);
  std::memcpy(copy.mutable_bytes().data(), begin, copy.size_bytes());
  return copy;
}

HostTree SafetensorsReader::read_all() const {
  HostTree tensors;
  for (const auto& [name, type] : types_) tensors.emplace(name, read(name));
  return tensors;
}

HostTree read_safetensors(const std::filesystem::path& path) { return SafetensorsReader(path).read_all(); }

void write_safetensors(const std::filesystem::path& path, const HostTree& tensors,
                       const std::map<std::string, std::string>& metadata) {
  Json header = Json::object();
  if (!metadata.empty()) header[std::string(kMetadata)] = metadata;
  const auto order = write_order(tensors);
  size_t end = 0;
  for (const auto* item : order) {
    const auto& [name, array] = *item;
    const std::string where = fmt::format("{}: tensor {}", path.string(), json_quote(name));
    if (name == kMetadata || !is_utf8(name)) fail<RuntimeError>("{}: cannot be a name in a safetensors file", where);
    header[name] = {{"dtype", safetensors_name(where, array.dtype())},
                    {"shape", std::vector<int64_t>(array.shape().begin(), array.shape().end())},
                    {"data_offsets", {end, end + array.size_bytes()}}};
    end += array.size_bytes();
  }
  std::string text = header.dump();
  text.resize((text.size() + kLengthBytes - 1) / kLengthBytes * kLengthBytes, ' ');
  const uint64_t length = text.size();
  std::vector<std::string_view> pieces = {{reinterpret_cast<const char*>(&length), sizeof(length)}, text};
  for (const auto* item : order) {
    const auto bytes = item->second.bytes();
    pieces.emplace_back(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  write_file_atomically(path, pieces);
}

}  // namespace pax
