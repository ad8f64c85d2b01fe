#include "pax/config/schema.h"

#include <cmath>
#include <deque>
#include <set>

#include "pax/config/access.h"
#include "pax/config/yaml.h"

namespace pax::config {

namespace {

Value one(std::string key, Value value) {
  Value out = Value::map();
  out.add(std::move(key), std::move(value));
  return out;
}

Value type_is(const char* name) { return one("type", Value::of(name)); }

Value any_of(std::vector<Value> choices) {
  Value list = Value::list();
  list.items = std::move(choices);
  return one("anyOf", std::move(list));
}

class SchemaWriter {
 public:
  explicit SchemaWriter(const Registry& registry) : registry_(registry) {}

  Value refer_to(const ConfigType& type) {
    if (named_.insert(type.name).second) pending_.push_back(&type);
    return one("$ref", Value::of("#/$defs/" + std::string(type.name)));
  }

  Value definitions() {
    Value out = Value::map();
    while (!pending_.empty() || !pending_interfaces_.empty()) {
      if (!pending_.empty()) {
        const ConfigType& type = *pending_.front();
        pending_.pop_front();
        out.add(std::string(type.name), definition(type));
      } else {
        const std::string_view interface = pending_interfaces_.front();
        pending_interfaces_.pop_front();
        out.add(interface_name(interface), of_interface(interface));
      }
    }
    return out;
  }

 private:
  Value definition(const ConfigType& type) {
    Value properties = one("__class__", one("const", Value::of(type.name)));
    const std::shared_ptr<void> defaults = type.make();
    for (const Field& field : type.fields(defaults.get())) {
      Value property = of_type(*field.type, field.about);
      if (*field.about.doc != '\0') property.add("description", Value::of(field.about.doc));
      add_default(property, field);
      properties.add(std::string(field.name), std::move(property));
    }
    Value out = type_is("object");
    if (!type.doc.empty()) out.add("description", Value::of(type.doc));
    out.add("properties", std::move(properties));
    out.add("additionalProperties", Value::of(false));
    return out;
  }

  static void add_default(Value& property, const Field& field) {
    switch (field.type->kind) {
      case FieldKind::kBool:
      case FieldKind::kInt:
      case FieldKind::kString:
      case FieldKind::kEnum:
        property.add("default", scalar_value(*field.type, field.data));
        return;
      case FieldKind::kReal:
        if (const Value value = scalar_value(*field.type, field.data); std::isfinite(value.real)) {
          property.add("default", value);
        }
        return;
      case FieldKind::kTpl:
        if (const auto& tpl = *static_cast<const AnyTpl*>(field.data); tpl) {
          property.add("default", one("__class__", Value::of(tpl.class_name())));
        }
        return;
      default:
        return;
    }
  }

  Value of_type(const FieldType& type, const About& about) {
    switch (type.kind) {
      case FieldKind::kBool:
        return type_is("boolean");
      case FieldKind::kInt:
      case FieldKind::kReal: {
        Value out = type_is(type.kind == FieldKind::kInt ? "integer" : "number");
        if (std::isfinite(about.min)) out.add("minimum", Value::of(about.min));
        if (std::isfinite(about.max)) out.add("maximum", Value::of(about.max));
        return out;
      }
      case FieldKind::kString: {  // a plain number is a text where a text is meant
        Value names = Value::list();
        for (const char* name : {"string", "number", "boolean"}) names.items.push_back(Value::of(name));
        return one("type", std::move(names));
      }
      case FieldKind::kEnum: {
        Value names = Value::list();
        for (const auto& [number, name] : type.enum_entries()) names.items.push_back(Value::of(name));
        return one("enum", std::move(names));
      }
      case FieldKind::kOptional:
        return any_of({of_type(type.element(), about), type_is("null")});
      case FieldKind::kList: {
        Value out = type_is("array");
        out.add("items", of_type(type.element(), about));
        if (type.fixed_size >= 0) {
          out.add("minItems", Value::of(type.fixed_size));
          out.add("maxItems", Value::of(type.fixed_size));
        }
        return out;
      }
      case FieldKind::kMap: {
        Value out = type_is("object");
        out.add("additionalProperties", of_type(type.element(), about));
        return out;
      }
      case FieldKind::kVariant: {
        std::vector<Value> choices;
        for (const auto alternative : type.alternatives) choices.push_back(of_type(alternative(), about));
        return any_of(std::move(choices));
      }
      case FieldKind::kRecord:
        return refer_to(type.record());
      case FieldKind::kTpl:
        if (named_.insert(type.interface).second) pending_interfaces_.push_back(type.interface);
        return one("$ref", Value::of("#/$defs/" + interface_name(type.interface)));
      case FieldKind::kValue:
        return Value::map();
    }
    return Value::map();
  }

  static std::string interface_name(std::string_view interface) { return "any." + std::string(short_name(interface)); }

  /// A mapping of any class that fits, a class's name alone, or null.
  Value of_interface(std::string_view interface) {
    std::vector<Value> choices;
    Value names = Value::list();
    for (const ConfigType* type : registry_.implementing(interface)) {
      choices.push_back(refer_to(*type));
      names.items.push_back(Value::of(type->name));
    }
    choices.push_back(one("enum", std::move(names)));
    choices.push_back(type_is("null"));
    return any_of(std::move(choices));
  }

  const Registry& registry_;
  std::set<std::string_view> named_;
  std::deque<const ConfigType*> pending_;
  std::deque<std::string_view> pending_interfaces_;
};

}  // namespace

Value schema(const ConfigType& top, const Registry& registry) {
  SchemaWriter writer(registry);
  Value out = one("$schema", Value::of("https://json-schema.org/draft/2020-12/schema"));
  out.add("title", Value::of(top.name));
  Value reference = writer.refer_to(top);
  out.add(reference.keys[0], reference.items[0]);
  out.add("$defs", writer.definitions());
  return out;
}

}  // namespace pax::config
