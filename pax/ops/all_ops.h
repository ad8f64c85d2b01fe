#pragma once

#include <span>

#include "pax/ir/op.h"

namespace pax {

/// Every op of this folder: for tests that hold all of them to something.
std::vector<const OpDef*> all_ops();

// The same a source file.
std::span<const OpDef* const> activation_ops();
std::span<const OpDef* const> arg_ops();
std::span<const OpDef* const> arithmetic_ops();
std::span<const OpDef* const> attention_ops();
std::span<const OpDef* const> broadcast_ops();
std::span<const OpDef* const> constant_ops();
std::span<const OpDef* const> convert_ops();
std::span<const OpDef* const> convolution_ops();
std::span<const OpDef* const> cumulative_ops();
std::span<const OpDef* const> custom_call_ops();
std::span<const OpDef* const> dot_ops();
std::span<const OpDef* const> dynamic_slice_ops();
std::span<const OpDef* const> gather_ops();
std::span<const OpDef* const> identity_ops();
std::span<const OpDef* const> linalg_ops();
std::span<const OpDef* const> logic_ops();
std::span<const OpDef* const> math_ops();
std::span<const OpDef* const> random_ops();
std::span<const OpDef* const> reduce_ops();
std::span<const OpDef* const> reshape_ops();
std::span<const OpDef* const> scatter_ops();
std::span<const OpDef* const> slice_ops();
std::span<const OpDef* const> softmax_ops();
std::span<const OpDef* const> sort_ops();
std::span<const OpDef* const> window_ops();

}  // namespace pax
