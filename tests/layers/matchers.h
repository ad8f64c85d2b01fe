#pragma once

#include <gmock/gmock.h>

#include <cmath>

#include "pax/array/host_array.h"
#include "pax/base/error.h"

namespace pax {

/// Every element within `tolerance` of the expected ones, in order.
MATCHER_P2(Near, expected, tolerance, "") {
  const std::vector<double> values = arg.to_doubles();
  const std::vector<double> wanted(expected);
  if (values.size() != wanted.size()) {
    *result_listener << "has " << values.size() << " elements";
    return false;
  }
  for (size_t i = 0; i < values.size(); ++i) {
    if (!(std::abs(values[i] - wanted[i]) <= tolerance)) {
      *result_listener << "element " << i << " is " << values[i] << " but should be " << wanted[i];
      return false;
    }
  }
  return true;
}

inline auto near(std::vector<double> expected, double tolerance = 1e-5) { return Near(expected, tolerance); }

/// Throws `E` with a message that holds all of `parts`.
template <class E, class... Parts>
auto throws(Parts... parts) {
  return testing::ThrowsMessage<E>(testing::AllOf(testing::HasSubstr(parts)...));
}

}  // namespace pax
