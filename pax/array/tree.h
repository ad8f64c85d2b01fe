#pragma once

#include <map>
#include <string>

#include "pax/array/host_array.h"

namespace pax {

/// Named leaves, ordered by path; a path's parts are joined by '/': `params/lm/final_ln/scale`.
template <class T>
using Tree = std::map<std::string, T, std::less<>>;

using HostTree = Tree<HostArray>;

}  // namespace pax
