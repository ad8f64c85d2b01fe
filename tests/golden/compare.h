#pragma once

#include <string>
#include <string_view>

#include "pax/array/host_array.h"

namespace pax::golden {

/// `|got - expected| <= absolute + relative * |expected|`; integers are exact.
struct Tolerance {
  double relative = 0;
  double absolute = 0;
};

/// "" when every element is within the tolerance, else the worst one: its place, both values, how many are off. Two
/// NaNs are equal, as are two equal infinities.
std::string compare(std::string_view name, const HostArray& got, const HostArray& expected, const Tolerance& tolerance);

}  // namespace pax::golden
