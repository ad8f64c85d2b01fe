#pragma once

#include <memory>

#include "pax/pjrt/plugin.h"

struct PJRT_Event;

namespace pax {

/// Something that a plugin finishes later: a transfer, an execution.
class Event {
 public:
  /// Ready from the start.
  Event() = default;
  /// Takes ownership of `event`.
  Event(std::shared_ptr<const Plugin> plugin, PJRT_Event* event);

  bool ready() const;
  /// Blocks until ready. Throws PluginError if what was waited for failed.
  void wait() const;

 private:
  std::shared_ptr<const Plugin> plugin_;
  std::shared_ptr<PJRT_Event> event_;
};

}  // namespace pax
