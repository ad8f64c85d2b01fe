#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "pax/config/config_type.h"

namespace pax::config {

/// The config classes that text may name. Filled by explicit lists, one function for each folder of classes.
class Registry {
 public:
  /// Adds C under `kName` and its `kAliases`. Throws ConfigError when another class has one of the names.
  template <Record C>
  void add() {
    add(type_of<C>());
  }
  void add(const ConfigType& type);

  /// The class of that name: a full name, an alias, or the end of one after a dot (`Linear`, `layers.Linear`). When
  /// `interface` is not empty only classes that implement it count. Throws ConfigError naming the candidates when
  /// several match and none has fewer parts in its name, the nearest names when none matches.
  const ConfigType& find(std::string_view name, std::string_view interface = "") const;
  template <class Base>
  const ConfigType& find_for(std::string_view name) const {
    return find(name, type_name<Base>());
  }

  /// All classes that implement the interface (all, when it is empty), by name.
  std::vector<const ConfigType*> implementing(std::string_view interface) const;

 private:
  std::vector<const ConfigType*> candidates(std::string_view name) const;

  std::map<std::string, const ConfigType*, std::less<>> by_name_;
  std::multimap<std::string, std::string, std::less<>> by_last_part_;  // "Linear" -> "praxis.layers.Linear"
};

}  // namespace pax::config
