#include "pax/layers/einsum.h"

#include <algorithm>

#include "pax/base/error.h"
#include "pax/ops/elementwise.h"

namespace pax {
namespace {

struct Equation {
  std::string x, w, out;
};

Equation parse_equation(const std::string& eqn, const Scope& scope, size_t rank) {
  std::string compact = eqn;
  std::erase(compact, ' ');
  const size_t comma = compact.find(','), arrow = compact.find("->");
  Equation parts;
  if (comma != std::string::npos && arrow != std::string::npos && comma < arrow) {
    parts = {compact.substr(0, comma), compact.substr(comma + 1, arrow - comma - 1), compact.substr(arrow + 2)};
  }
  if (parts.w.empty() || parts.w.find('.') != std::string::npos || parts.w.size() != rank) {
    fail<ConfigError>(
        "{}: eqn is \"{}\" and w_shape has {} dimensions; it must be \"input,w->output\" with a letter for "
        "each dimension of w",
        scope.path(), eqn, rank);
  }
  return parts;
}

/// Dimensions of w whose letter is in `in` and not in `not_in`.
std::vector<int64_t> dims_of_w(const Equation& eqn, const std::string& in, const std::string& not_in) {
  std::vector<int64_t> dims;
  for (size_t i = 0; i < eqn.w.size(); ++i) {
    if (in.find(eqn.w[i]) != std::string::npos && not_in.find(eqn.w[i]) == std::string::npos) {
      dims.push_back(static_cast<int64_t>(i));
    }
  }
  return dims;
}

}  // namespace

Einsum::Einsum(const Config& config, const Scope& scope) : Layer(config, scope), eqn_(config.eqn) {
  const Equation eqn = parse_equation(config.eqn, scope, config.w_shape.size());
  const auto split = weight_split("wt");
  w_ = param("w", {.shape = Shape(config.w_shape),
                   .split = split,
                   .fan_in_axes = dims_of_w(eqn, eqn.x, eqn.out),
                   .fan_out_axes = dims_of_w(eqn, eqn.out, eqn.x)});
  if (config.use_bias) {
    ParamSpec bias{.shape = {}, .init = WeightInit::constant(0.0)};
    bool added_before = false;
    for (const char letter : eqn.out) {
      const size_t dim = eqn.w.find(letter);
      const bool added = dim != std::string::npos && eqn.x.find(letter) == std::string::npos;
      if (added_before && !added) {
        pax::fail<ConfigError>("{}: eqn \"{}\" has a bias, so the dimensions that w adds must stand last in the output",
                               scope.path(), config.eqn);
      }
      added_before = added;
      if (!added) continue;
      bias.shape.push_back(config.w_shape[dim]);
      if (dim < split.size()) bias.split.push_back(split[dim]);
    }
    b_ = param("b", std::move(bias));
  }
  einsum_ = child("einsum", config.einsum_op_tpl);
}

Tensor Einsum::fprop(Tensor x) const {
  const Tensor y = einsum_->einsum(eqn_, x, w_);
  return shard(b_ ? y + b_ : y, "out");
}

template const config::ConfigType& config::type_of<Einsum::Config>();

}  // namespace pax
