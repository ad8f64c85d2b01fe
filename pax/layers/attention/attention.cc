#include "pax/layers/attention/attention.h"

#include "pax/base/text.h"
#include "pax/ops/constant.h"
#include "pax/ops/convert.h"
#include "pax/ops/reshape.h"
#include "pax/ops/slice.h"

namespace pax {

bool grows_with_steps(std::string_view cached_name) {
  return cached_name.find("cross_attention/") == std::string_view::npos;
}

Tensor step_of_rows(Tensor time_step, int64_t rank) {
  while (time_step.rank() > 0 && time_step.rank() < rank) time_step = expand_dims(time_step, -1);
  return time_step;
}

void Attention::require_one_step(Tensor time_step) const {
  if (time_step.rank() > 0) fail("this form of attention decodes one text at a time: serve one row");
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
  const Tensor update = convert(expand_dims(value, 1), state.dtype());
  Tensor extended = state;
  if (step.time_step.rank() == 0) {
    extended = dynamic_update_slice_dim(state, update, 1, step.time_step);
  } else {
    std::vector<Tensor> starts(static_cast<size_t>(state.rank()), full(graph(), {DType::kS32, {}}, 0));
    for (int64_t row = 0; row < state.dim(0); ++row) {
      starts[0] = full(graph(), {DType::kS32, {}}, static_cast<double>(row));
      starts[1] = index_dim(step.time_step, 0, row);
      extended = dynamic_update_slice(extended, slice_dim(update, 0, row, row + 1), starts);
    }
  }
  keep(step.cache, name, extended);
  return extended;
}

}  // namespace pax
