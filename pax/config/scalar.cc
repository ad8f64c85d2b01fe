#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

#include "pax/base/text.h"
#include "pax/config/access.h"

namespace pax::config {

namespace {

int64_t read_integer(const FieldType& type, const void* data) {
  const auto read = [&]<class T>(T value) {
    std::memcpy(&value, data, sizeof(value));
    return static_cast<int64_t>(value);
  };
  switch (type.bytes) {
    case 1:
      return type.is_signed ? read(int8_t{}) : read(uint8_t{});
    case 2:
      return type.is_signed ? read(int16_t{}) : read(uint16_t{});
    case 4:
      return type.is_signed ? read(int32_t{}) : read(uint32_t{});
    default:
      return read(int64_t{});
  }
}

void write_integer(const FieldType& type, void* data, int64_t value) {
  std::memcpy(data, &value, type.bytes);  // little-endian: the low bytes come first
}

/// Smallest and largest value of an integer member (64-bit unsigned members hold at most 2^63-1).
std::pair<int64_t, int64_t> integer_limits(const FieldType& type) {
  if (type.bytes >= 8) return {type.is_signed ? INT64_MIN : 0, INT64_MAX};
  const int bits = type.bytes * 8;
  if (type.is_signed) return {-(int64_t{1} << (bits - 1)), (int64_t{1} << (bits - 1)) - 1};
  return {0, (int64_t{1} << bits) - 1};
}

std::string wrong_type(const FieldType& type, const Value& value) {
  return fmt::format("must be {}, not {}", describe_type(type), describe(value));
}

std::string set_integer(const FieldType& type, void* data, const Value& value) {
  int64_t number = value.integer;
  const auto [low, high] = integer_limits(type);
  if (value.kind == Value::Kind::kReal) {
    if (std::nearbyint(value.real) != value.real) return wrong_type(type, value);
    if (value.real < -0x1p63 || value.real >= 0x1p63) {
      return fmt::format("{} is out of range; it must lie in {} to {}", value.text, low, high);
    }
    number = static_cast<int64_t>(value.real);
  } else if (value.kind != Value::Kind::kInt) {
    return wrong_type(type, value);
  }
  if (number < low || number > high) {
    return fmt::format("{} is out of range; it must lie in {} to {}", number, low, high);
  }
  write_integer(type, data, number);
  return "";
}

/// Spellings of infinity and NaN that YAML, JSON writers and C++ use.
std::optional<double> special_real(std::string_view text) {
  const double sign = text.starts_with('-') ? -1 : 1;
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  if (text == "inf" || text == ".inf" || text == "Infinity" || text == ".Inf") return sign * INFINITY;
  if (text == "nan" || text == ".nan" || text == "NaN" || text == ".NaN") return NAN;
  return std::nullopt;
}

std::string set_real(const FieldType& type, void* data, const Value& value) {
  double number = value.real;
  if (value.kind == Value::Kind::kString && !value.quoted && special_real(value.text)) {
    number = *special_real(value.text);
  } else if (value.kind != Value::Kind::kInt && value.kind != Value::Kind::kReal) {
    return wrong_type(type, value);
  } else if (std::isinf(number) && !special_real(value.text)) {
    return fmt::format("{} is out of range of a double", value.text);
  }
  if (type.bytes == sizeof(float)) {
    if (std::isfinite(number) && std::abs(number) > 3.4028234663852886e38) {
      return fmt::format("{} is out of range of a float", value.text);
    }
    const auto narrow = static_cast<float>(number);
    std::memcpy(data, &narrow, sizeof(narrow));
  } else {
    std::memcpy(data, &number, sizeof(number));
  }
  return "";
}

/// The name that is printed for each value of an enum.
std::vector<std::string> canonical_names(const FieldType& type) {
  std::vector<std::string> names;
  std::vector<int64_t> seen;
  for (const auto& [number, name] : type.enum_entries()) {
    if (std::find(seen.begin(), seen.end(), number) != seen.end()) continue;
    seen.push_back(number);
    names.emplace_back(name);
  }
  return names;
}

std::string set_enum(const FieldType& type, void* data, const Value& value) {
  const std::vector<EnumEntry> entries = type.enum_entries();
  if (value.kind == Value::Kind::kList || value.kind == Value::Kind::kMap || value.is_null()) {
    return wrong_type(type, value);
  }
  for (const auto& [number, name] : entries) {
    if (name == value.text) {
      write_integer(type, data, number);
      return "";
    }
  }
  const std::vector<std::string> names = canonical_names(type);
  return fmt::format("{} is none of {}.{}", json_quote(value.text), join(names, ", "), did_you_mean(value.text, names));
}

}  // namespace

Value scalar_value(const FieldType& type, const void* data) {
  switch (type.kind) {
    case FieldKind::kBool:
      return Value::of(*static_cast<const bool*>(data));
    case FieldKind::kInt:
      return Value::of(read_integer(type, data));
    case FieldKind::kReal: {
      if (type.bytes == sizeof(double)) return Value::of(*static_cast<const double*>(data));
      const float number = *static_cast<const float*>(data);
      Value value = Value::of(static_cast<double>(number));
      if (std::isfinite(number)) {
        char buffer[32];
        value.text.assign(buffer, std::to_chars(buffer, buffer + sizeof(buffer), number).ptr);
        if (value.text.find_first_of(".e") == std::string::npos) value.text += ".0";
      }
      return value;
    }
    case FieldKind::kString:
      return Value::of(*static_cast<const std::string*>(data));
    case FieldKind::kEnum: {
      const int64_t number = read_integer(type, data);
      for (const auto& [value, name] : type.enum_entries()) {
        if (value == number) {
          Value out = Value::of(name);
          out.quoted = false;
          return out;
        }
      }
      return Value::of(number);
    }
    case FieldKind::kValue:
      return *static_cast<const Value*>(data);
    default:
      return {};
  }
}

std::string set_scalar(const FieldType& type, void* data, const Value& value) {
  switch (type.kind) {
    case FieldKind::kBool:
      if (value.kind != Value::Kind::kBool) return wrong_type(type, value);
      *static_cast<bool*>(data) = value.boolean;
      return "";
    case FieldKind::kInt:
      return set_integer(type, data, value);
    case FieldKind::kReal:
      return set_real(type, data, value);
    case FieldKind::kString:
      if (!value.is_scalar() || value.is_null()) return wrong_type(type, value);
      *static_cast<std::string*>(data) = value.text;
      return "";
    case FieldKind::kEnum:
      return set_enum(type, data, value);
    case FieldKind::kValue:
      *static_cast<Value*>(data) = value;
      return "";
    default:
      return wrong_type(type, value);
  }
}

std::string check_range(const Slot& slot) {
  switch (slot.type->kind) {
    case FieldKind::kInt:
    case FieldKind::kReal: {
      const Value value = scalar_value(*slot.type, slot.data);
      if (value.real >= slot.about.min && value.real <= slot.about.max) return "";
      if (std::isinf(slot.about.min) && std::isinf(slot.about.max)) return "";
      if (std::isinf(slot.about.max)) return fmt::format("{} must be at least {}", value.text, slot.about.min);
      if (std::isinf(slot.about.min)) return fmt::format("{} must be at most {}", value.text, slot.about.max);
      return fmt::format("{} must lie in {} to {}", value.text, slot.about.min, slot.about.max);
    }
    case FieldKind::kOptional:
    case FieldKind::kVariant:
    case FieldKind::kList: {
      std::string wrong;
      each_part(slot, [&](const std::string&, const Slot& part) {
        if (wrong.empty()) wrong = check_range(part);
      });
      return wrong;
    }
    default:
      return "";
  }
}

std::string_view short_name(std::string_view cpp_name) {
  const size_t at = cpp_name.rfind("::");
  return at == std::string_view::npos ? cpp_name : cpp_name.substr(at + 2);
}

std::string describe_type(const FieldType& type) {
  switch (type.kind) {
    case FieldKind::kBool:
      return "true or false";
    case FieldKind::kInt:
      return "an integer";
    case FieldKind::kReal:
      return "a number";
    case FieldKind::kString:
      return "a text";
    case FieldKind::kEnum:
      return "one of " + join(canonical_names(type), ", ");
    case FieldKind::kOptional:
      return describe_type(type.element()) + (type.required ? "" : " or null");
    case FieldKind::kList: {
      if (type.fixed_size < 0) return "a list, each item " + describe_type(type.element());
      return fmt::format("a list of {}, each item {}", type.fixed_size, describe_type(type.element()));
    }
    case FieldKind::kMap:
      return "a mapping, each value " + describe_type(type.element());
    case FieldKind::kVariant: {
      std::string out;
      for (const auto alternative : type.alternatives) {
        out += (out.empty() ? "" : ", or ") + describe_type(alternative());
      }
      return out;
    }
    case FieldKind::kRecord:
      return fmt::format("a {}", type.record().name);
    case FieldKind::kTpl:
      return fmt::format("a config that builds a {}", short_name(type.interface));
    case FieldKind::kValue:
      return "any value";
  }
  return "";
}

}  // namespace pax::config
