#pragma once

#include <map>
#include <string_view>

#include "pax/array/host_array.h"

namespace pax::hf {

/// Sizes of dimensions by their letter.
using Sizes = std::map<char, int64_t>;

/// The elements of `array` in another order of dimensions: "(n h) d -> d n h" splits the first dimension into n and h
/// and puts d in front. A letter is a dimension; letters in parentheses are one dimension of the array, the first
/// outermost. `sizes` has all but one letter of each pair of parentheses on the left. Throws RuntimeError naming the
/// pattern and both sizes when the shape does not fit.
HostArray rearrange(const HostArray& array, std::string_view pattern, const Sizes& sizes);

/// The pattern that undoes `pattern`.
std::string inverse(std::string_view pattern);

}  // namespace pax::hf
