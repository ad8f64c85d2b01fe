#include "pax/config/sharing.h"

#include <algorithm>

#include "pax/base/error.h"
#include "pax/config/access.h"
#include "pax/config/errors.h"

namespace pax::config {

namespace {

class Finder {
 public:
  explicit Finder(Sharing& sharing) : sharing_(sharing) {}

  void visit(const Slot& slot, const std::string& path) {
    if (slot.type->kind == FieldKind::kTpl) {
      const auto& tpl = *static_cast<const AnyTpl*>(slot.data);
      if (!tpl) return;
      const Node* node = tpl.node().get();
      const auto open = std::find(open_.begin(), open_.end(), node);
      if (open != open_.end()) {
        fail<ConfigError>("{}: this {} contains itself (it is also {}); break the loop with clone()", path,
                          tpl.class_name(), sharing_.places[node].front());
      }
      std::vector<std::string>& places = sharing_.places[node];
      places.push_back(path);
      if (places.size() == 1) {
        order_.push_back(tpl.node().get());
        open_.push_back(node);
        visit_parts(slot, path);
        open_.pop_back();
      }
      return;
    }
    visit_parts(slot, path);
  }

  const std::vector<Node*>& order() const { return order_; }

 private:
  void visit_parts(const Slot& slot, const std::string& path) {
    each_part(slot, [&](const std::string& suffix, const Slot& part) { visit(part, join_config_path(path, suffix)); });
  }

  Sharing& sharing_;
  std::vector<const Node*> open_;
  std::vector<Node*> order_;
};

std::vector<Node*> collect(const Ref& root, Sharing& sharing) {
  Finder finder(sharing);
  for (const Field& field : root.type->fields(root.data)) {
    finder.visit({field.type, field.data, field.about}, std::string(field.name));
  }
  return finder.order();
}

}  // namespace

size_t Sharing::handles(const Node* node) const {
  const auto found = places.find(node);
  return found == places.end() ? 0 : found->second.size();
}

Sharing find_sharing(const Ref& root) {
  Sharing sharing;
  collect(root, sharing);
  return sharing;
}

void mark_shared(const Ref& root) {
  Sharing sharing;
  const auto last_id = std::make_shared<std::atomic<int>>(0);
  for (Node* node : collect(root, sharing)) {
    const auto handles = static_cast<int>(sharing.handles(node));
    node->mark = handles > 1 ? std::make_shared<SharedMark>(SharedMark{++*last_id, handles, last_id}) : nullptr;
  }
}

Ref::Ref(const AnyTpl& tpl) {
  if (!tpl) fail<ConfigError>("a config is needed where the template is empty");
  type = tpl.type();
  data = tpl.node()->data.get();
}

}  // namespace pax::config
