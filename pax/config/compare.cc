#include "pax/config/compare.h"

#include <algorithm>
#include <map>

#include "pax/config/access.h"
#include "pax/config/errors.h"
#include "pax/config/sharing.h"
#include "pax/config/yaml.h"

namespace pax::config {

namespace {

std::vector<std::pair<std::string, Slot>> parts_of(const Slot& slot) {
  std::vector<std::pair<std::string, Slot>> parts;
  each_part(slot, [&](const std::string& suffix, const Slot& part) { parts.emplace_back(suffix, part); });
  return parts;
}

const AnyTpl& as_tpl(const Slot& slot) { return *static_cast<const AnyTpl*>(slot.data); }

bool is_scalar_kind(const Slot& slot) {
  switch (slot.type->kind) {
    case FieldKind::kOptional:
    case FieldKind::kList:
    case FieldKind::kMap:
    case FieldKind::kVariant:
    case FieldKind::kRecord:
    case FieldKind::kTpl:
      return false;
    default:
      return true;
  }
}

/// A short text of what a slot holds: a template shows its class only.
std::string show(const Slot& slot) {
  if (is_scalar_kind(slot)) return to_json(scalar_value(*slot.type, slot.data));
  switch (slot.type->kind) {
    case FieldKind::kTpl:
      return as_tpl(slot) ? std::string(as_tpl(slot).class_name()) : "null";
    case FieldKind::kRecord:
      return std::string(slot.type->record().name);
    case FieldKind::kOptional:
    case FieldKind::kVariant: {
      const auto parts = parts_of(slot);
      return parts.empty() ? "null" : show(parts[0].second);
    }
    default: {
      std::string out;
      for (const auto& [suffix, part] : parts_of(slot)) {
        out += out.empty() ? "" : ", ";
        if (slot.type->kind == FieldKind::kMap) out += suffix + ": ";
        out += show(part);
      }
      return slot.type->kind == FieldKind::kMap ? "{" + out + "}" : "[" + out + "]";
    }
  }
}

bool holds_configs(const FieldType& type) {
  switch (type.kind) {
    case FieldKind::kTpl:
    case FieldKind::kRecord:
      return true;
    case FieldKind::kOptional:
    case FieldKind::kList:
    case FieldKind::kMap:
      return holds_configs(type.element());
    case FieldKind::kVariant:
      return std::any_of(type.alternatives.begin(), type.alternatives.end(),
                         [](auto alternative) { return holds_configs(alternative()); });
    default:
      return false;
  }
}

class Differ {
 public:
  std::vector<Difference> out;

  void compare(const std::string& path, const Slot& a, const Slot& b) {
    if (!holds_configs(*a.type) || !holds_configs(*b.type)) {
      if (!equal(a, b)) out.push_back({path, show(a), show(b)});
      return;
    }
    if (a.type->kind == FieldKind::kTpl && b.type->kind == FieldKind::kTpl) {
      if (as_tpl(a).same_node(as_tpl(b))) return;
      if (as_tpl(a).class_name() != as_tpl(b).class_name()) {
        out.push_back({path, show(a), show(b)});
        if (!as_tpl(a) || !as_tpl(b)) return;
        return compare_parts(path, a, b, Absent::kSkip);
      }
    }
    compare_parts(path, a, b, Absent::kReport);
  }

  enum class Absent { kReport, kSkip };

  void compare_parts(const std::string& path, const Slot& a, const Slot& b, Absent absent) {
    const auto left = parts_of(a);
    const auto right = parts_of(b);
    std::map<std::string, Slot> by_suffix(right.begin(), right.end());
    for (const auto& [suffix, part] : left) {
      const std::string at = join_config_path(path, suffix);
      const auto other = by_suffix.find(suffix);
      if (other == by_suffix.end()) {
        if (absent == Absent::kReport) out.push_back({at, show(part), "(absent)"});
        continue;
      }
      compare(at, part, other->second);
      by_suffix.erase(other);
    }
    if (absent == Absent::kSkip) return;
    for (const auto& [suffix, part] : right) {
      if (by_suffix.contains(suffix)) out.push_back({join_config_path(path, suffix), "(absent)", show(part)});
    }
  }
};

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return std::tolower(c); });
  return out;
}

void find_below(const Slot& slot, const std::string& path, const std::string& word, std::vector<Found>& out) {
  each_part(slot, [&](const std::string& suffix, const Slot& part) {
    const std::string at = join_config_path(path, suffix);
    const bool is_member = slot.type->kind == FieldKind::kTpl || slot.type->kind == FieldKind::kRecord;
    const bool class_matches = part.type->kind == FieldKind::kTpl && as_tpl(part) &&
                               lower(as_tpl(part).class_name()).find(word) != std::string::npos;
    if (class_matches || (is_member && lower(suffix).find(word) != std::string::npos)) {
      out.push_back({at, show(part), part.about.doc});
    }
    find_below(part, at, word, out);
  });
}

/// A slot for the whole of `root`.
template <class Use>
auto with_slot(const Ref& root, Use use) {
  const AnyTpl tpl(std::make_shared<Node>(Node{root.type, std::shared_ptr<void>(root.data, [](void*) {}), nullptr}));
  FieldType type;
  type.kind = FieldKind::kTpl;
  return use(Slot{&type, const_cast<AnyTpl*>(&tpl), {}});
}

}  // namespace

bool equal(const Slot& a, const Slot& b) {
  if (a.type->kind != b.type->kind) return false;
  if (is_scalar_kind(a)) return scalar_value(*a.type, a.data) == scalar_value(*b.type, b.data);
  if (a.type->kind == FieldKind::kTpl) {
    if (as_tpl(a).same_node(as_tpl(b))) return true;
    if (!as_tpl(a) || !as_tpl(b) || !as_tpl(a).type()->is(*as_tpl(b).type())) return false;
  }
  if (a.type->kind == FieldKind::kVariant && a.type->index(a.data) != b.type->index(b.data)) return false;
  const auto left = parts_of(a);
  const auto right = parts_of(b);
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](const auto& l, const auto& r) { return l.first == r.first && equal(l.second, r.second); });
}

bool equal(const Ref& a, const Ref& b) {
  if (!a.type->is(*b.type)) return false;
  find_sharing(a);  // throws on loops
  find_sharing(b);
  return with_slot(
      a, [&](const Slot& left) { return with_slot(b, [&](const Slot& right) { return equal(left, right); }); });
}

std::vector<Difference> diff(const Ref& a, const Ref& b) {
  find_sharing(a);  // throws on loops
  find_sharing(b);
  Differ differ;
  with_slot(a, [&](const Slot& left) { with_slot(b, [&](const Slot& right) { differ.compare("", left, right); }); });
  return std::move(differ.out);
}

std::vector<Found> find(const Ref& root, std::string_view word) {
  find_sharing(root);  // throws on loops
  std::vector<Found> out;
  with_slot(root, [&](const Slot& slot) { find_below(slot, "", lower(word), out); });
  return out;
}

}  // namespace pax::config
