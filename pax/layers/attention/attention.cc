#include "pax/layers/attention/attention.h"

#include "pax/base/text.h"
#include "pax/ops/convert.h"
#include "pax/ops/reshape.h"
#include "pax/ops/slice.h"

namespace pax {

bool grows_with_steps(std::string_view cached_name) {
  return cached_name.find("cross_attention/") == std::string_view::npos;
}

Tensor Attention::extend_step(const AttentionStep&) const {
  fail("this form of attention does not decode step by step");
}

void Attention::keep(DecodeCache* cache, std::string_view name, Tensor value) const {
  if (cache != nullptr) (*cache)[join_path(scope().path(), name)] = value;
}

Tensor Attention::kept(const AttentionStep& step, std::string_view name) const {
  const std::string path = join_path(scope().path(), name);
  const auto at = step.cache == nullptr ? DecodeCache::iterator() : step.cache->find(path);
  if (step.cache == nullptr || at == step.cache->end()) fail("nothing is cached under \"" + path + "\"");
  return at->second;
}

Tensor Attention::extend(const AttentionStep& step, std::string_view name, Tensor value) const {
  const Tensor state = kept(step, name);
  const Tensor extended =
      dynamic_update_slice_dim(state, convert(expand_dims(value, 1), state.dtype()), 1, step.time_step);
  keep(step.cache, name, extended);
  return extended;
}

}  // namespace pax
