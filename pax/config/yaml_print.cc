#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "pax/base/error.h"
#include "pax/base/text.h"
#include "pax/config/access.h"
#include "pax/config/compare.h"
#include "pax/config/sharing.h"
#include "pax/config/yaml.h"

namespace pax::config {

namespace {

/// Turns configs into Values.
class Printer {
 public:
  Printer(const PrintOptions& options, Sharing sharing) : options_(options), sharing_(std::move(sharing)) {}

  /// The members of one config object beside those of `baseline`, an object of the same class.
  void add_members(Value& out, const ConfigType& type, void* data, void* baseline) {
    const std::vector<Field> fields = type.fields(data);
    const std::vector<Field> defaults = type.fields(baseline);
    for (size_t i = 0; i < fields.size(); ++i) {
      const Slot slot{fields[i].type, fields[i].data, fields[i].about};
      const Slot base{defaults[i].type, defaults[i].data, {}};
      if (options_.only_changed && !holds_shared(slot) && equal(slot, base)) continue;
      out.add(std::string(fields[i].name), value_of(slot, &base));
      if (options_.comments) {
        out.comments.resize(out.keys.size());
        out.comments.back() = fields[i].about.doc;
      }
    }
  }

  Value value_of(const Slot& slot, const Slot* base) {
    const FieldType& type = *slot.type;
    switch (type.kind) {
      case FieldKind::kOptional: {
        void* inside = type.get(slot.data);
        if (inside == nullptr) return {};
        void* base_inside = base == nullptr ? nullptr : type.get(base->data);
        const Slot base_slot{&type.element(), base_inside, {}};
        return value_of({&type.element(), inside, {}}, base_inside == nullptr ? nullptr : &base_slot);
      }
      case FieldKind::kVariant:
        return value_of({&type.alternative(type.index(slot.data)), type.get(slot.data), {}}, nullptr);
      case FieldKind::kList: {
        Value out = Value::list();
        each_part(slot, [&](const std::string&, const Slot& part) { out.items.push_back(value_of(part, nullptr)); });
        return out;
      }
      case FieldKind::kMap: {
        Value out = Value::map();
        for (const auto& [key, data] : type.map_entries(slot.data)) {
          out.add(std::string(key), value_of({&type.element(), data, {}}, nullptr));
        }
        return out;
      }
      case FieldKind::kRecord: {
        Value out = Value::map();
        const ConfigType& record = type.record();
        const std::shared_ptr<void> fresh = base == nullptr ? record.make() : nullptr;
        add_members(out, record, slot.data, fresh ? fresh.get() : base->data);
        return out;
      }
      case FieldKind::kTpl:
        return value_of_tpl(slot, base);
      default:
        return scalar_value(type, slot.data);
    }
  }

 private:
  Value value_of_tpl(const Slot& slot, const Slot* base) {
    const auto& tpl = *static_cast<const AnyTpl*>(slot.data);
    if (!tpl) return {};
    Value out = Value::map();
    if (sharing_.handles(tpl.node().get()) > 1) {
      const auto [at, is_new] = anchors_.emplace(tpl.node().get(), static_cast<int>(anchors_.size()) + 1);
      out.anchor = at->second;
      if (!is_new) return out;
    }
    out.add("__class__", Value::of(tpl.class_name()));
    out.items.back().quoted = false;
    if (options_.comments) out.comments.emplace_back();
    const AnyTpl* before = base == nullptr ? nullptr : static_cast<const AnyTpl*>(base->data);
    const bool in_place = before != nullptr && *before && before->type()->is(*tpl.type());
    const std::shared_ptr<void> baseline = in_place ? before->node()->data : tpl.type()->make();
    add_members(out, *tpl.type(), tpl.node()->data.get(), baseline.get());
    return out;
  }

  bool holds_shared(const Slot& slot) const {
    if (slot.type->kind == FieldKind::kTpl) {
      const auto& tpl = *static_cast<const AnyTpl*>(slot.data);
      if (tpl && sharing_.handles(tpl.node().get()) > 1) return true;
    }
    bool found = false;
    each_part(slot, [&](const std::string&, const Slot& part) { found = found || holds_shared(part); });
    return found;
  }

  const PrintOptions& options_;
  const Sharing sharing_;
  std::map<const Node*, int> anchors_;
};

/// Whether `text` may stand without quotes and reads back as that text.
bool is_plain_text(std::string_view text) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  if (text.empty() || text.back() == ' ') return false;
  if (!is_letter(text[0]) && text[0] != '/') return false;
  for (const char c : text) {
    if (!is_letter(c) && !(c >= '0' && c <= '9') && std::string_view("./-+ ").find(c) == std::string_view::npos) {
      return false;
    }
  }
  const auto is_any = [&](std::initializer_list<std::string_view> words) {
    return std::find(words.begin(), words.end(), text) != words.end();
  };
  return !is_any({"null", "Null", "NULL", "None", "true", "True", "TRUE", "false", "False", "FALSE", "yes", "no", "on",
                  "off", "inf", "nan", "Infinity", "NaN"});
}

std::string number_text(const Value& value, bool json) {
  if (value.kind != Value::Kind::kReal) return fmt::format("{}", value.integer);
  if (value.real != value.real) return json ? "NaN" : ".nan";
  if (value.real > 1.7976931348623157e308) return json ? "Infinity" : ".inf";
  if (value.real < -1.7976931348623157e308) return json ? "-Infinity" : "-.inf";
  return value.text.empty() ? exact_double(value.real) : value.text;
}

std::string scalar_text(const Value& value) {
  switch (value.kind) {
    case Value::Kind::kNull:
      return "null";
    case Value::Kind::kBool:
      return value.boolean ? "true" : "false";
    case Value::Kind::kString:
      return is_plain_text(value.text) ? value.text : json_quote(value.text);
    default:
      return number_text(value, false);
  }
}

bool is_flow(const Value& value) {
  if (value.anchor != 0) return false;
  if (value.is_scalar() || value.items.empty()) return true;
  if (value.is_map()) return value.keys.size() == 1 && value.keys[0] == "__class__";
  return std::all_of(value.items.begin(), value.items.end(),
                     [](const Value& item) { return !item.is_map() && is_flow(item); });
}

class YamlWriter {
 public:
  std::string text;

  void write_top(const Value& value) {
    if (is_flow(value)) {
      text += flow(value) + "\n";
    } else {
      write_block(value, 0);
    }
  }

 private:
  /// What follows "key:" or "-": on the same line, or below it, further in.
  void write_after(const Value& value, int indent) {
    if (value.anchor != 0) {
      if (std::find(anchors_.begin(), anchors_.end(), value.anchor) != anchors_.end()) {
        text += fmt::format(" *shared_{}\n", value.anchor);
        return;
      }
      anchors_.push_back(value.anchor);
      text += fmt::format(" &shared_{}", value.anchor);
    }
    if (value.is_scalar() || value.items.empty() || is_flow(value)) {
      text += " " + flow(value) + "\n";
    } else {
      text += "\n";
      write_block(value, indent);
    }
  }

  void write_block(const Value& value, int indent) {
    for (size_t i = 0; i < value.items.size(); ++i) {
      if (i < value.comments.size() && !value.comments[i].empty()) {
        for (const std::string& line : split(value.comments[i], '\n')) {
          text.append(static_cast<size_t>(indent), ' ');
          text += "# " + line + "\n";
        }
      }
      text.append(static_cast<size_t>(indent), ' ');
      text += value.is_map() ? key_text(value.keys[i]) + ":" : "-";
      write_after(value.items[i], indent + 2);
    }
  }

  static std::string key_text(const std::string& key) { return is_plain_text(key) ? key : json_quote(key); }

  static std::string flow(const Value& value) {
    if (value.is_scalar()) return scalar_text(value);
    std::string out;
    for (size_t i = 0; i < value.items.size(); ++i) {
      if (i > 0) out += ", ";
      if (value.is_map()) out += key_text(value.keys[i]) + ": ";
      out += flow(value.items[i]);
    }
    return value.is_map() ? "{" + out + "}" : "[" + out + "]";
  }

  std::vector<int> anchors_;
};

class JsonWriter {
 public:
  std::string text;

  void write(const Value& value) {
    if (value.anchor != 0) {
      const auto [at, is_new] = anchors_.emplace(value.anchor, &value);
      if (!is_new && value.items.empty()) return write(*at->second);
    }
    switch (value.kind) {
      case Value::Kind::kString:
        text += json_quote(value.text);
        return;
      case Value::Kind::kReal:
        text += number_text(value, true);
        return;
      case Value::Kind::kList:
      case Value::Kind::kMap:
        text += value.is_map() ? '{' : '[';
        for (size_t i = 0; i < value.items.size(); ++i) {
          if (i > 0) text += ", ";
          if (value.is_map()) text += json_quote(value.keys[i]) + ": ";
          write(value.items[i]);
        }
        text += value.is_map() ? '}' : ']';
        return;
      default:
        text += scalar_text(value);
    }
  }

 private:
  std::map<int, const Value*> anchors_;
};

}  // namespace

Value to_value(const Ref& config, const PrintOptions& options) {
  Printer printer(options, find_sharing(config));
  Value out = Value::map();
  out.add("__class__", Value::of(config.type->name));
  out.items.back().quoted = false;
  if (options.comments) out.comments.emplace_back(config.type->doc);
  const std::shared_ptr<void> baseline = config.type->make();
  printer.add_members(out, *config.type, config.data, baseline.get());
  return out;
}

Value value_at(const Ref& config, std::string_view path, const PrintOptions& options) {
  std::string error;
  const auto slot = find_slot(*config.type, config.data, path, error);
  if (!slot) throw ConfigError(error);
  Printer printer(options, find_sharing(config));
  return printer.value_of(*slot, nullptr);
}

std::string to_yaml(const Value& value) {
  YamlWriter writer;
  writer.write_top(value);
  return std::move(writer.text);
}

std::string to_json(const Value& value) {
  JsonWriter writer;
  writer.write(value);
  return std::move(writer.text);
}

std::string print(const Ref& config, const PrintOptions& options) { return to_yaml(to_value(config, options)); }

}  // namespace pax::config
