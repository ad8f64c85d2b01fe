#include "pax/config/tpl.h"

#include <algorithm>
#include <unordered_map>

#include "pax/base/error.h"
#include "pax/config/access.h"
#include "pax/config/errors.h"

namespace pax::config {

void fail_missing_required() {
  fail<ConfigError>("a required value was read before it was set; config::require_valid names the field");
}

void fail_empty_tpl(std::string_view interface) {
  fail<ConfigError>("an empty template of a {} was built; set it or test it first", short_name(interface));
}

void fail_not_built(const ConfigType& type, std::string_view interface) {
  fail<ConfigError>("{} does not build a {}", type.name, short_name(interface));
}

AnyTpl::AnyTpl(const AnyTpl& other) = default;
AnyTpl::AnyTpl(AnyTpl&& other) noexcept = default;
AnyTpl& AnyTpl::operator=(const AnyTpl& other) = default;
AnyTpl& AnyTpl::operator=(AnyTpl&& other) noexcept = default;
AnyTpl::~AnyTpl() = default;

AnyTpl::AnyTpl(const ConfigType& type, const void* config)
    : node_(std::make_shared<Node>(Node{&type, type.copy(config), nullptr})) {}

const FieldType& AnyTpl::any_tpl_type() {
  static const FieldType type{
      .kind = FieldKind::kTpl, .id = type_name<AnyTpl>(), .assign = [](void* to, const void* from) {
        *static_cast<AnyTpl*>(to) = *static_cast<const AnyTpl*>(from);
      }};
  return type;
}

bool AnyTpl::has_field(std::string_view path) const {
  std::string error;
  return node_ && find_slot(*node_->type, node_->data.get(), path, error).has_value();
}

namespace {

Slot require_slot(const AnyTpl& tpl, std::string_view path) {
  if (!tpl) fail<ConfigError>("{}: the template is empty", path);
  std::string error;
  const auto slot = find_slot(*tpl.type(), tpl.node()->data.get(), path, error);
  if (!slot) throw ConfigError(fmt::format("{} in a {}", error, tpl.class_name()));
  return *slot;
}

}  // namespace

void AnyTpl::set_erased(std::string_view path, const void* value, const FieldType& type) {
  const Slot slot = require_slot(*this, path);
  std::string wrong = convert(slot, {&type, const_cast<void*>(value), {}});
  if (wrong.empty()) wrong = check_range(slot);
  if (!wrong.empty()) fail<ConfigError>("{} of a {}: {}", path, class_name(), wrong);
}

void AnyTpl::get_erased(std::string_view path, void* value, const FieldType& type) const {
  const std::string wrong = convert({&type, value, {}}, require_slot(*this, path));
  if (!wrong.empty()) fail<ConfigError>("{} of a {}: {}", path, class_name(), wrong);
}

void AnyTpl::copy_fields_from(const AnyTpl& source, std::span<const std::string_view> may_lack) {
  if (!source) fail<ConfigError>("copy_fields_from: the template to copy from is empty");
  for (const Field& field : source.type()->fields(source.node()->data.get())) {
    const bool is_optional = std::find(may_lack.begin(), may_lack.end(), field.name) != may_lack.end();
    if (!is_optional || has_field(field.name)) set_erased(field.name, field.data, *field.type);
  }
}

namespace {

/// Deep copy of nodes; each node is copied once.
class Cloner {
 public:
  std::shared_ptr<Node> copy(const Node& node) {
    ++handles_[&node];
    if (const auto found = copies_.find(&node); found != copies_.end()) return found->second;
    auto out = std::make_shared<Node>(Node{node.type, node.type->copy(node.data.get()), node.mark});
    copies_[&node] = out;
    for (const Field& field : out->type->fields(out->data.get())) copy_inside({field.type, field.data, {}});
    return out;
  }

  /// Nodes whose every handle was copied are shared within the copy only: they get a mark of their own.
  void renew_inner_marks(const Node& top) {
    for (auto& [node, out] : copies_) {
      if (node != &top && node->mark && handles_[node] >= node->mark->handles) {
        SharedMark mark = *node->mark;
        mark.id = ++*mark.last_id;
        out->mark = std::make_shared<SharedMark>(std::move(mark));
      }
    }
  }

 private:
  void copy_inside(const Slot& slot) {
    if (slot.type->kind == FieldKind::kTpl) {
      auto& tpl = *static_cast<AnyTpl*>(slot.data);
      if (tpl) tpl = AnyTpl(copy(*tpl.node()));
    } else {
      each_part(slot, [&](const std::string&, const Slot& part) { copy_inside(part); });
    }
  }

  std::unordered_map<const Node*, std::shared_ptr<Node>> copies_;
  std::unordered_map<const Node*, int> handles_;
};

}  // namespace

AnyTpl clone(const AnyTpl& tpl) {
  if (!tpl) return {};
  Cloner cloner;
  AnyTpl out(cloner.copy(*tpl.node()));
  cloner.renew_inner_marks(*tpl.node());
  return out;
}

AnyTpl clone_unshared(const AnyTpl& tpl) {
  AnyTpl out = clone(tpl);
  if (out) out.node()->mark = nullptr;
  return out;
}

}  // namespace pax::config
