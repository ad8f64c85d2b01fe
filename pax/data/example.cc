#include "pax/data/example.h"

#include <array>
#include <bit>

#include "pax/base/error.h"
#include "pax/base/text.h"
#include "pax/data/wire.h"

namespace pax::data {

const Feature* Example::find(std::string_view name) const {
  const auto found = fields_.find(name);
  return found == fields_.end() ? nullptr : &found->second;
}

const Feature& Example::at(std::string_view name) const {
  if (const Feature* feature = find(name)) return *feature;
  std::vector<std::string> names;
  for (const auto& [present, feature] : fields_) names.push_back(present);
  fail<RuntimeError>("the record has no field \"{}\"; it has: {}.{}", name, join(names, ", "),
                     did_you_mean(name, names));
}

const std::string& Example::text(std::string_view name) const {
  const auto* strings = std::get_if<Strings>(&at(name));
  if (strings == nullptr || strings->size() != 1) {
    fail<RuntimeError>("field \"{}\" is no single text", name);
  }
  return strings->front();
}

const Ints& Example::ints(std::string_view name) const {
  const Feature& feature = at(name);
  if (const auto* ints = std::get_if<Ints>(&feature)) return *ints;
  fail<RuntimeError>("field \"{}\" holds {}, not integers", name, feature.index() == 1 ? "floats" : "text");
}

void Example::set_text(std::string name, std::string value) {
  Strings one;
  one.push_back(std::move(value));
  set(std::move(name), std::move(one));
}

void Example::erase(std::string_view name) {
  const auto found = fields_.find(name);
  if (found != fields_.end()) fields_.erase(found);
}

namespace {

// Example {1: Features}; Features {1: repeated entry {1: name, 2: Feature}};
// Feature {1: BytesList | 2: FloatList | 3: Int64List}, each {1: repeated value}.

Strings parse_bytes_list(std::string_view bytes) {
  Strings values;
  WireReader reader(bytes);
  while (const auto field = reader.next()) {
    if (field->number == 1 && field->type == WireReader::Type::kBytes) values.emplace_back(field->bytes);
  }
  return values;
}

Floats parse_float_list(std::string_view bytes) {
  Floats values;
  WireReader reader(bytes);
  while (const auto field = reader.next()) {
    if (field->number != 1) continue;
    if (field->type == WireReader::Type::kFixed32) {
      values.push_back(std::bit_cast<float>(static_cast<uint32_t>(field->value)));
    } else if (field->type == WireReader::Type::kBytes) {
      WireReader packed(field->bytes);
      while (!packed.empty()) values.push_back(std::bit_cast<float>(packed.fixed32()));
    }
  }
  return values;
}

Ints parse_int_list(std::string_view bytes) {
  Ints values;
  WireReader reader(bytes);
  while (const auto field = reader.next()) {
    if (field->number != 1) continue;
    if (field->type == WireReader::Type::kVarint) {
      values.push_back(static_cast<int64_t>(field->value));
    } else if (field->type == WireReader::Type::kBytes) {
      WireReader packed(field->bytes);
      while (!packed.empty()) values.push_back(static_cast<int64_t>(packed.varint()));
    }
  }
  return values;
}

/// False for a feature of no kind: null.
bool parse_feature(std::string_view bytes, Feature& feature) {
  bool any = false;
  WireReader reader(bytes);
  while (const auto field = reader.next()) {
    if (field->type != WireReader::Type::kBytes || field->number < 1 || field->number > 3) continue;
    any = true;
    if (field->number == 1) feature = parse_bytes_list(field->bytes);
    if (field->number == 2) feature = parse_float_list(field->bytes);
    if (field->number == 3) feature = parse_int_list(field->bytes);
  }
  return any;
}

void parse_entry(std::string_view bytes, Example& example) {
  std::string_view name;
  std::string_view value;
  WireReader reader(bytes);
  while (const auto field = reader.next()) {
    if (field->number == 1) name = field->bytes;
    if (field->number == 2) value = field->bytes;
  }
  Feature feature;
  if (parse_feature(value, feature)) example.set(std::string(name), std::move(feature));
}

void put_varint(uint64_t value, std::string& out) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}

void put_bytes(uint32_t number, std::string_view bytes, std::string& out) {
  put_varint(number << 3 | 2, out);
  put_varint(bytes.size(), out);
  out += bytes;
}

std::string serialize_list(const Feature& feature) {
  std::string list;
  if (const auto* strings = std::get_if<Strings>(&feature)) {
    for (const std::string& value : *strings) put_bytes(1, value, list);
    return list;
  }
  std::string packed;
  if (const auto* floats = std::get_if<Floats>(&feature)) {
    for (const float value : *floats) {
      const auto bytes = std::bit_cast<std::array<char, 4>>(value);
      packed.append(bytes.data(), bytes.size());
    }
  } else {
    for (const int64_t value : std::get<Ints>(feature)) put_varint(static_cast<uint64_t>(value), packed);
  }
  if (!packed.empty()) put_bytes(1, packed, list);
  return list;
}

}  // namespace

Example parse_tf_example(std::string_view bytes) {
  Example example;
  WireReader reader(bytes);
  while (const auto field = reader.next()) {
    if (field->number != 1 || field->type != WireReader::Type::kBytes) continue;
    WireReader features(field->bytes);
    while (const auto entry = features.next()) {
      if (entry->number == 1 && entry->type == WireReader::Type::kBytes) parse_entry(entry->bytes, example);
    }
  }
  return example;
}

std::string serialize_tf_example(const Example& example) {
  constexpr std::array<uint32_t, 3> kFieldOfKind = {3, 2, 1};
  std::string features;
  for (const auto& [name, feature] : example.fields()) {
    std::string value;
    put_bytes(kFieldOfKind[feature.index()], serialize_list(feature), value);
    std::string entry;
    put_bytes(1, name, entry);
    put_bytes(2, value, entry);
    put_bytes(1, entry, features);
  }
  std::string out;
  put_bytes(1, features, out);
  return out;
}

}  // namespace pax::data
