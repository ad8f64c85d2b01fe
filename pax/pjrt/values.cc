// Between this library's types and the C API's.

#include "pax/pjrt/api.h"

namespace pax {
namespace {

PJRT_NamedValue to_named_value(const std::string& name, const NamedValue& value) {
  PJRT_NamedValue out{.struct_size = PJRT_NamedValue_STRUCT_SIZE, .name = name.data(), .name_size = name.size()};
  out.value_size = 1;
  if (const auto* text = std::get_if<std::string>(&value)) {
    out.type = PJRT_NamedValue_kString;
    out.string_value = text->data();
    out.value_size = text->size();
  } else if (const auto* number = std::get_if<int64_t>(&value)) {
    out.type = PJRT_NamedValue_kInt64;
    out.int64_value = *number;
  } else if (const auto* list = std::get_if<std::vector<int64_t>>(&value)) {
    out.type = PJRT_NamedValue_kInt64List;
    out.int64_array_value = list->data();
    out.value_size = list->size();
  } else if (const auto* real = std::get_if<float>(&value)) {
    out.type = PJRT_NamedValue_kFloat;
    out.float_value = *real;
  } else {
    out.type = PJRT_NamedValue_kBool;
    out.bool_value = std::get<bool>(value);
  }
  return out;
}

NamedValue from_named_value(const PJRT_NamedValue& value) {
  switch (value.type) {
    case PJRT_NamedValue_kString:
      return std::string(value.string_value, value.value_size);
    case PJRT_NamedValue_kInt64:
      return value.int64_value;
    case PJRT_NamedValue_kInt64List:
      return std::vector<int64_t>(value.int64_array_value, value.int64_array_value + value.value_size);
    case PJRT_NamedValue_kFloat:
      return value.float_value;
    case PJRT_NamedValue_kBool:
      return value.bool_value;
  }
  return std::string("(of a kind that this program does not know)");
}

struct TypePair {
  DType dtype;
  PJRT_Buffer_Type buffer_type;
};

constexpr TypePair kTypes[] = {
    {DType::kPred, PJRT_Buffer_Type_PRED},     {DType::kS4, PJRT_Buffer_Type_S4},
    {DType::kS8, PJRT_Buffer_Type_S8},         {DType::kS16, PJRT_Buffer_Type_S16},
    {DType::kS32, PJRT_Buffer_Type_S32},       {DType::kS64, PJRT_Buffer_Type_S64},
    {DType::kU4, PJRT_Buffer_Type_U4},         {DType::kU8, PJRT_Buffer_Type_U8},
    {DType::kU16, PJRT_Buffer_Type_U16},       {DType::kU32, PJRT_Buffer_Type_U32},
    {DType::kU64, PJRT_Buffer_Type_U64},       {DType::kF8E4M3FN, PJRT_Buffer_Type_F8E4M3FN},
    {DType::kF8E5M2, PJRT_Buffer_Type_F8E5M2}, {DType::kBF16, PJRT_Buffer_Type_BF16},
    {DType::kF16, PJRT_Buffer_Type_F16},       {DType::kF32, PJRT_Buffer_Type_F32},
    {DType::kF64, PJRT_Buffer_Type_F64},
};

}  // namespace

std::vector<PJRT_NamedValue> to_named_values(const NamedValues& values) {
  std::vector<PJRT_NamedValue> out;
  for (const auto& [name, value] : values) out.push_back(to_named_value(name, value));
  return out;
}

NamedValues from_named_values(const PJRT_NamedValue* values, size_t count) {
  NamedValues out;
  for (size_t i = 0; i < count; ++i) {
    out.emplace_back(std::string(values[i].name, values[i].name_size), from_named_value(values[i]));
  }
  return out;
}

PJRT_Buffer_Type to_buffer_type(DType dtype) {
  for (const TypePair& pair : kTypes) {
    if (pair.dtype == dtype) return pair.buffer_type;
  }
  fail<RuntimeError>("no device array has element type {}", dtype_name(dtype));
}

DType from_buffer_type(PJRT_Buffer_Type type) {
  for (const TypePair& pair : kTypes) {
    if (pair.buffer_type == type) return pair.dtype;
  }
  fail<RuntimeError>("the device array has PJRT element type {}, which no host array has", static_cast<int>(type));
}

}  // namespace pax
