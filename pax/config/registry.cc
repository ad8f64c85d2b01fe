#include "pax/config/registry.h"

#include <fmt/core.h>

#include <algorithm>

#include "pax/base/error.h"
#include "pax/base/text.h"
#include "pax/config/access.h"

namespace pax::config {

namespace {

std::string_view last_part(std::string_view name) { return name.substr(name.rfind('.') + 1); }

/// The one of `types` that has the shortest of names ending in `name`, by parts (`layers.Linear` before
/// `layers.quantization.Linear`); null when two have.
const ConfigType* nearest(const std::vector<const ConfigType*>& types, std::string_view name);

bool ends_at_dot(std::string_view full, std::string_view end) {
  if (!full.ends_with(end)) return false;
  return full.size() == end.size() || full[full.size() - end.size() - 1] == '.';
}

const ConfigType* nearest(const std::vector<const ConfigType*>& types, std::string_view name) {
  const ConfigType* best = nullptr;
  long fewest = 0;
  bool alone = false;
  for (const ConfigType* type : types) {
    long parts = -1;
    const auto consider = [&](std::string_view full) {
      const long own = std::ranges::count(full, '.');
      if (ends_at_dot(full, name) && (parts < 0 || own < parts)) parts = own;
    };
    consider(type->name);
    for (const std::string_view alias : type->aliases) consider(alias);
    if (best != nullptr && parts > fewest) continue;
    alone = best == nullptr || parts < fewest;
    best = type;
    fewest = parts;
  }
  return alone ? best : nullptr;
}

}  // namespace

void Registry::add(const ConfigType& type) {
  const auto add_name = [&](std::string_view name) {
    const auto [at, is_new] = by_name_.emplace(name, &type);
    if (is_new) {
      by_last_part_.emplace(last_part(name), name);
    } else if (!at->second->is(type)) {
      fail<ConfigError>("{}: two classes of this name: {} and {}", name, at->second->id, type.id);
    }
  };
  add_name(type.name);
  for (const std::string_view alias : type.aliases) add_name(alias);
}

std::vector<const ConfigType*> Registry::candidates(std::string_view name) const {
  if (const auto exact = by_name_.find(name); exact != by_name_.end()) return {exact->second};
  std::vector<const ConfigType*> found;
  const auto [begin, end] = by_last_part_.equal_range(last_part(name));
  for (auto at = begin; at != end; ++at) {
    if (!ends_at_dot(at->second, name)) continue;
    const ConfigType* type = by_name_.find(at->second)->second;
    if (std::find(found.begin(), found.end(), type) == found.end()) found.push_back(type);
  }
  return found;
}

const ConfigType& Registry::find(std::string_view name, std::string_view interface) const {
  const std::vector<const ConfigType*> all = candidates(name);
  std::vector<const ConfigType*> fitting = all;
  if (!interface.empty()) std::erase_if(fitting, [&](const ConfigType* type) { return !type->implements(interface); });
  if (fitting.size() == 1) return *fitting.front();
  if (fitting.size() > 1) {
    if (const ConfigType* type = nearest(fitting, name)) return *type;
    std::vector<std::string> names;
    for (const ConfigType* type : fitting) names.emplace_back(type->name);
    fail<ConfigError>("{} may be any of {}; write the whole name", name, join(names, ", "));
  }
  if (!all.empty()) fail<ConfigError>("{} does not build a {}", all.front()->name, short_name(interface));
  std::vector<std::string> names;
  for (const ConfigType* type : implementing(interface)) {
    names.emplace_back(type->name);
    names.emplace_back(last_part(type->name));
  }
  fail<ConfigError>("no class {} is known.{}", json_quote(name), did_you_mean(name, names));
}

std::vector<const ConfigType*> Registry::implementing(std::string_view interface) const {
  std::vector<const ConfigType*> out;
  for (const auto& [name, type] : by_name_) {
    if (name == type->name && (interface.empty() || type->implements(interface))) out.push_back(type);
  }
  return out;
}

}  // namespace pax::config
