#pragma once

#include <map>
#include <string>
#include <vector>

#include "pax/config/ref.h"

namespace pax::config {

/// The places (paths) of each node of a tree; nodes with more than one are shared.
struct Sharing {
  std::map<const Node*, std::vector<std::string>> places;
  /// How many places hold `node`.
  size_t handles(const Node* node) const;
};

/// Finds every template below `root`; what lies inside a shared node is counted once. Throws ConfigError naming the
/// path when a node contains itself.
Sharing find_sharing(const Ref& root);

/// Marks every node that stands in several places of the tree (see `AnyTpl::shared_mark`), so that both places build
/// one instance, with one set of weights. Marks survive `clone`. Throws ConfigError when a node contains itself.
void mark_shared(const Ref& root);

}  // namespace pax::config
