#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>
#include <vector>

#include "pax/ir/tensor.h"

namespace pax {

/// The op of a case of tests/ops/recorded/jax_ops.json, with its attributes, on `inputs`. Throws RuntimeError for an op
/// that is not known.
std::vector<Tensor> build_case(std::string_view op, const nlohmann::json& attrs, const std::vector<Tensor>& inputs);

}  // namespace pax
