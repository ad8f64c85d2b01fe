#include "pax/config/check.h"

#include <algorithm>
#include <set>

#include "pax/base/error.h"
#include "pax/base/text.h"
#include "pax/config/access.h"
#include "pax/config/errors.h"
#include "pax/config/sharing.h"

namespace pax::config {

namespace {

class Checker {
 public:
  explicit Checker(Errors& errors) : errors_(errors) {}

  /// `fills` names the Required members that the holder of this object sets itself.
  void check_config(const ConfigType& type, void* data, const std::string& path, std::string_view fills) {
    const Errors::Prefix prefix(errors_, path);
    const std::vector<std::string> filled = split(fills, ',');
    for (const Field& field : type.fields(data)) {
      const bool is_filled = fills == "*" || std::find(filled.begin(), filled.end(), field.name) != filled.end();
      check_slot({field.type, field.data, field.about}, std::string(field.name), is_filled);
    }
    if (type.validate != nullptr) type.validate(data, errors_);
  }

 private:
  void check_slot(const Slot& slot, const std::string& path, bool is_filled) {
    switch (slot.type->kind) {
      case FieldKind::kOptional:
        if (slot.type->get(slot.data) == nullptr && slot.type->required && !is_filled) {
          errors_.add(path, "a value is required" + about_text(slot));
        }
        break;
      case FieldKind::kInt:
      case FieldKind::kReal:
        if (const std::string wrong = check_range(slot); !wrong.empty()) errors_.add(path, wrong);
        break;
      case FieldKind::kRecord:
        return check_config(slot.type->record(), slot.data, path, slot.about.fills);
      case FieldKind::kTpl: {
        const auto& tpl = *static_cast<const AnyTpl*>(slot.data);
        if (!tpl || !seen_.insert(tpl.node().get()).second) return;
        return check_config(*tpl.type(), tpl.node()->data.get(), path, slot.about.fills);
      }
      default:
        break;
    }
    each_part(slot, [&](const std::string& suffix, const Slot& part) {
      check_slot(part, join_config_path(path, suffix), is_filled);
    });
  }

  static std::string about_text(const Slot& slot) {
    std::string text = fmt::format("; it must be {}", describe_type(*slot.type));
    if (*slot.about.doc != '\0') text += fmt::format(" ({})", slot.about.doc);
    return text;
  }

  Errors& errors_;
  std::set<const Node*> seen_;
};

}  // namespace

void validate(const Ref& root, Errors& errors) {
  try {
    find_sharing(root);
  } catch (const ConfigError& loop) {
    errors.add("", loop.what());
    return;
  }
  Checker(errors).check_config(*root.type, root.data, "", "");
}

void require_valid(const Ref& root) {
  Errors errors;
  validate(root, errors);
  errors.throw_if_any();
}

}  // namespace pax::config
