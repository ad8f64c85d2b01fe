#pragma once

#include <gtest/gtest.h>

#include <algorithm>

#include "pax/checkpoint/write.h"

namespace pax::testing {

/// Equal to the bit: step, types, values, items.
inline ::testing::AssertionResult same_state(const Checkpoint& a, const Checkpoint& b) {
  if (a.step != b.step) return ::testing::AssertionFailure() << "step " << a.step << " and " << b.step;
  if (a.items != b.items) return ::testing::AssertionFailure() << "items differ";
  if (a.state.size() != b.state.size()) return ::testing::AssertionFailure() << "other names";
  for (const auto& [name, array] : a.state) {
    const auto other = b.state.find(name);
    if (other == b.state.end()) return ::testing::AssertionFailure() << name << " is missing";
    if (array.type() != other->second.type() || !std::ranges::equal(array.bytes(), other->second.bytes())) {
      return ::testing::AssertionFailure() << name << " differs";
    }
  }
  return ::testing::AssertionSuccess();
}

}  // namespace pax::testing
