#include "pax/task/decoding/next_token_sampler.h"

#include "pax/layers/attention/masks.h"
#include "pax/ops/constant.h"
#include "pax/ops/convert.h"
#include "pax/ops/cumulative.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/gather.h"
#include "pax/ops/logic.h"
#include "pax/ops/random.h"
#include "pax/ops/reduce.h"
#include "pax/ops/reshape.h"
#include "pax/ops/slice.h"
#include "pax/ops/sort.h"

namespace pax {
namespace {

double nothing(Tensor logits) { return large_negative_number(logits.dtype()); }

/// Element `ids[b]` of each row.
Tensor pick_rows(Tensor x_bv, Tensor ids_b) { return squeeze(take_along(x_bv, expand_dims(ids_b, 1), 1), {1}); }

/// Descending logits [B, K] without those beyond the first whose probabilities together pass `p` [B, 1].
Tensor keep_top_p(Tensor sorted, Tensor p, Tensor total) {
  const Tensor wide = convert(sorted, DType::kF32);
  const Tensor probs = total ? wide / total : softmax(wide);
  // A token stays when those before it do not reach p.
  return select(le(cumsum(probs, 1) - probs, p), sorted, nothing(sorted));
}

}  // namespace

bool DefaultNextTokenSampler::draws(const SamplerInputs& inputs) const {
  return top_k != 1 && (inputs.temperature_b || inputs.temperature > 0);
}

DefaultNextTokenSampler::Draw DefaultNextTokenSampler::draw(Tensor logits_bv, const SamplerInputs& inputs) const {
  if (top_k == 1) return {.ids_b = argmax(logits_bv, 1), .logprobs_b = {}};
  Graph& graph = logits_bv.graph();
  Tensor logits = logits_bv;
  if (epsilon_p > 0) {
    logits = select(lt(softmax(convert(logits, DType::kF32)), epsilon_p), nothing(logits), logits);
  }
  Tensor p = inputs.top_p_b ? expand_dims(inputs.top_p_b, 1) : Tensor();
  if (!p && top_p && *top_p < 1.0) p = full(graph, {DType::kF32, {1, 1}}, *top_p);

  // All that follows works on the sorted logits, which `places` leads back from.
  Tensor places;
  if (top_k > 0 || p || inputs.top_k_b) {
    const auto [best, ids] = pax::top_k(logits, top_k == 0 ? logits.dim(1) : std::min(top_k, logits.dim(1)));
    const Tensor total = global_normalize ? reduce_sum(convert(logits, DType::kF32), {1}, Reduced::kKept) : Tensor();
    logits = best;
    places = ids;
    if (inputs.top_k_b) {
      const Tensor rank = iota(graph, {DType::kS32, {1, logits.dim(1)}}, 1);
      logits = select(lt(rank, expand_dims(inputs.top_k_b, 1)), logits, nothing(logits));
    }
    if (p) logits = keep_top_p(logits, p, total);
  }
  const Tensor kept = logits;
  if (draws(inputs)) {
    const Tensor heat = inputs.temperature_b ? expand_dims(convert(inputs.temperature_b, logits.dtype()), 1)
                                             : full(graph, {logits.dtype(), {1, 1}}, inputs.temperature);
    const bool row_keys = inputs.random_key.rank() == 2;
    const Shape noise = row_keys ? Shape{logits.dim(1)} : logits.shape();
    logits = logits + convert(random_gumbel(inputs.random_key, {DType::kF32, noise}), logits.dtype()) * heat;
  }
  const Tensor chosen = argmax(logits, 1);
  Draw draw{.ids_b = places ? pick_rows(places, chosen) : chosen, .logprobs_b = {}};
  if (use_top_k_for_logprobs && places) {
    draw.logprobs_b = pick_rows(log_softmax(convert(kept, DType::kF32)), chosen);
  }
  return draw;
}

}  // namespace pax
