#include <fmt/core.h>

#include "pax/config/access.h"

namespace pax::config {

namespace {

std::string no_conversion(const Slot& to, const Slot& from) {
  return fmt::format("must be {}, not {}", describe_type(*to.type), describe_type(*from.type));
}

std::string convert_tpl(const Slot& to, const Slot& from) {
  auto& target = *static_cast<AnyTpl*>(to.data);
  const auto& source = *static_cast<const AnyTpl*>(from.data);
  if (source && !to.type->interface.empty() && !source.type()->implements(to.type->interface)) {
    return fmt::format("{} does not build a {}", source.class_name(), short_name(to.type->interface));
  }
  target = source;
  return "";
}

std::string convert_list(const Slot& to, const Slot& from) {
  const size_t size = from.type->size(from.data);
  if (to.type->fixed_size >= 0) {
    if (size != static_cast<size_t>(to.type->fixed_size)) {
      return fmt::format("must have {} items, not {}", to.type->fixed_size, size);
    }
  } else {
    to.type->resize(to.data, size);
  }
  for (size_t i = 0; i < size; ++i) {
    std::string wrong = convert({&to.type->element(), to.type->at(to.data, i), to.about},
                                {&from.type->element(), from.type->at(from.data, i), {}});
    if (!wrong.empty()) return fmt::format("item [{}] {}", i, wrong);
  }
  return "";
}

std::string convert_to_variant(const Slot& to, const Slot& from) {
  for (size_t i = 0; i < to.type->alternatives.size(); ++i) {
    if (to.type->alternative(i).id == from.type->id) {
      return convert({&to.type->alternative(i), to.type->select(to.data, i), to.about}, from);
    }
  }
  for (size_t i = 0; i < to.type->alternatives.size(); ++i) {
    const Slot part{&to.type->alternative(i), to.type->select(to.data, i), to.about};
    if (convert(part, from).empty()) return "";
  }
  return no_conversion(to, from);
}

bool is_null_value(const Slot& slot) {
  return slot.type->kind == FieldKind::kValue && static_cast<const Value*>(slot.data)->is_null();
}

}  // namespace

std::string convert(const Slot& to, const Slot& from) {
  if (to.type->id == from.type->id) {
    to.type->assign(to.data, from.data);
    return "";
  }
  static const Value null;
  if (from.type->kind == FieldKind::kOptional) {
    void* inside = from.type->get(from.data);
    if (inside == nullptr) return convert(to, {&field_type<Value>(), const_cast<Value*>(&null), {}});
    return convert(to, {&from.type->element(), inside, {}});
  }
  if (from.type->kind == FieldKind::kVariant) {
    return convert(to, {&from.type->alternative(from.type->index(from.data)), from.type->get(from.data), {}});
  }
  if (to.type->kind == FieldKind::kOptional) {
    if (is_null_value(from)) {
      to.type->reset(to.data);
      return "";
    }
    return convert({&to.type->element(), to.type->emplace(to.data), to.about}, from);
  }
  if (to.type->kind == FieldKind::kVariant) return convert_to_variant(to, from);
  if (to.type->kind == FieldKind::kTpl) {
    if (is_null_value(from)) {
      *static_cast<AnyTpl*>(to.data) = AnyTpl();
      return "";
    }
    return from.type->kind == FieldKind::kTpl ? convert_tpl(to, from) : no_conversion(to, from);
  }
  if (to.type->kind == FieldKind::kList) {
    return from.type->kind == FieldKind::kList ? convert_list(to, from) : no_conversion(to, from);
  }
  switch (from.type->kind) {
    case FieldKind::kBool:
    case FieldKind::kInt:
    case FieldKind::kReal:
    case FieldKind::kString:
    case FieldKind::kEnum:
    case FieldKind::kValue:
      return set_scalar(*to.type, to.data, scalar_value(*from.type, from.data));
    default:
      return no_conversion(to, from);
  }
}

}  // namespace pax::config
