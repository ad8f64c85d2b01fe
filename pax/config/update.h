#pragma once

#include <set>
#include <unordered_map>

#include "pax/config/access.h"
#include "pax/config/errors.h"
#include "pax/config/registry.h"
#include "pax/config/tpl.h"

namespace pax::config {

/// Writes values into members; one object serves one document, so that aliases make shared nodes.
class Updater {
 public:
  Updater(const Registry& registry, Errors& errors) : registry_(registry), errors_(errors) {}

  void update(const Slot& slot, const std::string& path, const Value& value);
  void update_members(const ConfigType& type, void* data, const std::string& path, const Value& value);

 private:
  void update_tpl(const Slot& slot, const std::string& path, const Value& value);
  void update_list(const Slot& slot, const std::string& path, const Value& value);
  void update_map(const Slot& slot, const std::string& path, const Value& value);
  void update_variant(const Slot& slot, const std::string& path, const Value& value);
  bool try_alternative(const Slot& slot, size_t i, const Value& value);
  /// The class that `name` says, or nullptr after adding the reason to the errors.
  const ConfigType* find_class(const std::string& path, const Value& name, std::string_view interface);
  void wrong(const std::string& path, std::string_view message, const Value& value);

  const Registry& registry_;
  Errors& errors_;
  std::unordered_map<int, AnyTpl> anchored_;
  std::set<const Node*> written_;  // nodes that this document has described
};

}  // namespace pax::config
