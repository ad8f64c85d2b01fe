#pragma once

#include <cstdint>

#include "pax/config/config.h"
#include "pax/ir/tensor.h"

namespace pax {

/// A number that depends on how many updates were made: what the learning rate is multiplied by (praxis BaseSchedule).
class Schedule {
 public:
  using Kind = Schedule;
  virtual ~Schedule() = default;

  /// f32 scalar at update `count` (i32 scalar, from 0).
  virtual Tensor value(Tensor count) const = 0;

  /// The same number on the host: traces `value` and evaluates it in float32 as a device does.
  double value_at(int64_t count) const;
};

}  // namespace pax
