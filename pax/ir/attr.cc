#include "pax/ir/attr.h"

namespace pax {

void Attrs::set(std::string_view name, Attr value) {
  for (auto& [key, old] : entries_) {
    if (key == name) {
      old = std::move(value);
      return;
    }
  }
  entries_.emplace_back(name, std::move(value));
}

}  // namespace pax
