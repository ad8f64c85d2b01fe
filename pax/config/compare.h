#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pax/config/ref.h"

namespace pax::config {

struct Slot;

/// Equal classes and members; the sharing of nodes does not count. Throws ConfigError on nodes that contain themselves.
bool equal(const Slot& a, const Slot& b);
bool equal(const Ref& a, const Ref& b);

/// One place where two configs differ; a side that has nothing there is "(absent)".
struct Difference {
  std::string path;
  std::string left;
  std::string right;
};

/// Where `a` and `b` differ, in the order of members. Where classes differ, one line gives both and the members that
/// both have are compared.
std::vector<Difference> diff(const Ref& a, const Ref& b);

/// A member that was searched for.
struct Found {
  std::string path;
  std::string value;  ///< YAML on one line; for a template its class
  std::string doc;
};

/// Every member whose name, or whose template's class, contains `word` (capitals do not count).
std::vector<Found> find(const Ref& root, std::string_view word);

}  // namespace pax::config
