#include "pax/config/field.h"

#include <algorithm>
#include <memory>
#include <new>

#include "pax/config/field_traits.h"

namespace pax::config {

template const FieldType& field_type<bool>();
template const FieldType& field_type<int64_t>();
template const FieldType& field_type<double>();
template const FieldType& field_type<std::string>();
template const FieldType& field_type<Value>();
template const FieldType& field_type<std::optional<bool>>();
template const FieldType& field_type<std::optional<int64_t>>();
template const FieldType& field_type<std::optional<double>>();
template const FieldType& field_type<std::optional<std::string>>();
template const FieldType& field_type<std::vector<int64_t>>();
template const FieldType& field_type<std::vector<double>>();
template const FieldType& field_type<std::vector<std::string>>();
template const FieldType& field_type<std::optional<std::vector<int64_t>>>();
template const FieldType& field_type<std::optional<std::vector<std::string>>>();

void FieldVisitor::add(const char* name, void* data, const FieldType& type, const char* doc) {
  fields.push_back({name, &type, data, About{.doc = doc}});
}

void FieldVisitor::add(const char* name, void* data, const FieldType& type, const About& about) {
  fields.push_back({name, &type, data, about});
}

std::vector<Field> ConfigType::fields(void* data) const {
  FieldVisitor visitor;
  visitor.fields.reserve(32);
  visit(data, visitor);
  return std::move(visitor.fields);
}

namespace {

/// Memory for one object of class `type`, made by `construct` and destroyed with its last owner.
template <class Construct>
std::shared_ptr<void> allocate(const ConfigType& type, Construct construct) {
  const auto free_memory = [](void* memory) { ::operator delete(memory); };
  std::unique_ptr<void, decltype(free_memory)> memory(::operator new(type.bytes), free_memory);
  construct(memory.get());
  return std::shared_ptr<void>(memory.release(), [destroy = type.destroy](void* object) {
    destroy(object);
    ::operator delete(object);
  });
}

}  // namespace

bool ConfigType::implements(std::string_view interface) const {
  return std::find(interfaces.begin(), interfaces.end(), interface) != interfaces.end();
}

std::shared_ptr<void> ConfigType::make() const { return allocate(*this, construct); }

std::shared_ptr<void> ConfigType::copy(const void* from) const {
  return allocate(*this, [&](void* at) { copy_construct(at, from); });
}

}  // namespace pax::config
