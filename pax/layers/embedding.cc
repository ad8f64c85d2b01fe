#include "pax/layers/embedding.h"

#include <cmath>
#include <limits>

#include "pax/base/error.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/logic.h"
#include "pax/ops/reshape.h"

namespace pax {

Embedding::Embedding(const Config& config, const Scope& scope) : Layer(config, scope), config_(config) {
  if (config.num_classes <= 0 || config.input_dims <= 0) {
    pax::fail<ConfigError>("{}: num_classes is {} and input_dims is {}; both must be above 0", scope.path(),
                           config.num_classes, config.input_dims);
  }
  emb_var_ = param("emb_var", {.shape = {config.num_classes, config.input_dims}, .split = weight_split("wt")});
  array_lookup_ = child("array_lookup", config.array_lookup);
  einsum_ = child("einsum", config.einsum);
}

Tensor Embedding::fprop(Tensor ids) const {
  Tensor embs = TableLookup{*array_lookup_, *einsum_}(config_.lookup_style, emb_var_, ids);
  if (config_.set_nan_for_oob_id) {
    const Tensor known = lt(expand_dims(ids, -1), static_cast<double>(config_.num_classes));
    embs = select(known, embs, std::numeric_limits<double>::quiet_NaN());
  }
  if (config_.scale_sqrt_depth) embs = embs * std::sqrt(static_cast<double>(config_.input_dims));
  return shard(embs, "emb_out_split_dims_mapping");
}

template const config::ConfigType& config::type_of<Embedding::Config>();

}  // namespace pax
