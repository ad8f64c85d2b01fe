#pragma once

#include <string_view>

#include "pax/layers/layer.h"

namespace pax {

/// Mesh axes of each dimension; empty: nothing is said.
using Axes = std::vector<std::vector<std::string>>;

/// As configs write it; absent when nothing is said.
SplitDims to_split_dims(const Axes& axes);

/// The dimensions `dims` of `axes`, in that order; nothing when `axes` says nothing. Throws ConfigError naming
/// `what` when there is no such dimension.
Axes pick(const Axes& axes, std::initializer_list<size_t> dims, std::string_view what);

/// `axes` with dimensions `first` and the next as one.
Axes merge(Axes axes, size_t first);

/// Entry `name` of a template's `weight_split_dims_mapping` or `activation_split_dims_mapping`; entries that say
/// nothing leave the template's own.
void set_weight_split(config::AnyTpl& tpl, std::string_view name, const Axes& axes);
void set_activation_split(config::AnyTpl& tpl, std::string_view name, const Axes& axes);

}  // namespace pax
