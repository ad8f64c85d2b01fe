#pragma once

namespace pax {

/// While it lives, SIGTERM and SIGINT ask for a stop instead of ending the process: the trainer looks between steps,
/// saves and exits. A second SIGINT ends the process at once. One at a time.
class StopSignal {
 public:
  StopSignal();
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  bool requested() const;
};

}  // namespace pax
