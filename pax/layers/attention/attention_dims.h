#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>

#include "pax/params/scope.h"

namespace pax {

/// One size for queries, keys and values, or `{query: …, key: …, value: …}`.
using AttentionInputDim = std::variant<int64_t, std::map<std::string, int64_t>>;

struct InputDims {
  int64_t query, key, value;
};
/// The three sizes. Throws ConfigError naming `scope` when one is missing.
InputDims input_dims_of(const AttentionInputDim& input_dim, const Scope& scope);

struct HeadDims {
  std::optional<int64_t> dim_per_head;
  int64_t hidden_dim = 0, num_heads = 0;
};
/// The dimension of a head: as given, or `hidden_dim / num_heads`. Throws ConfigError naming `scope`.
int64_t head_dim_of(const HeadDims& dims, const Scope& scope);

}  // namespace pax
