#include "pax/layers/attention/attention_dims.h"

#include "pax/base/error.h"

namespace pax {

InputDims input_dims_of(const AttentionInputDim& input_dim, const Scope& scope) {
  if (const int64_t* dim = std::get_if<0>(&input_dim)) {
    if (*dim <= 0) fail<ConfigError>("{}: input_dim is {}; set it", scope.path(), *dim);
    return {*dim, *dim, *dim};
  }
  const auto& dims = std::get<1>(input_dim);
  const auto of = [&](const char* name) {
    const auto at = dims.find(name);
    if (at == dims.end())
      fail<ConfigError>("{}: input_dim has no \"{}\"; it needs query, key and value", scope.path(), name);
    return at->second;
  };
  return {of("query"), of("key"), of("value")};
}

int64_t head_dim_of(const HeadDims& dims, const Scope& scope) {
  if (dims.num_heads <= 0) fail<ConfigError>("{}: num_heads is {}; set it to 1 or more", scope.path(), dims.num_heads);
  if (dims.hidden_dim <= 0) fail<ConfigError>("{}: hidden_dim is {}; set it", scope.path(), dims.hidden_dim);
  if (dims.dim_per_head) return *dims.dim_per_head;
  if (dims.hidden_dim % dims.num_heads != 0) {
    fail<ConfigError>("{}: hidden_dim {} is no multiple of num_heads {}; set dim_per_head", scope.path(),
                      dims.hidden_dim, dims.num_heads);
  }
  return dims.hidden_dim / dims.num_heads;
}

}  // namespace pax
