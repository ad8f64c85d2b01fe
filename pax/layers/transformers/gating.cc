#include "pax/layers/transformers/gating.h"

#include <algorithm>

#include "pax/layers/attention/masks.h"
#include "pax/ops/constant.h"
#include "pax/ops/convert.h"
#include "pax/ops/cumulative.h"
#include "pax/ops/dot.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/gather.h"
#include "pax/ops/identity.h"
#include "pax/ops/logic.h"
#include "pax/ops/random.h"
#include "pax/ops/reduce.h"
#include "pax/ops/reshape.h"
#include "pax/ops/sort.h"

namespace pax {
namespace {

Tensor f32(Tensor x) { return convert(x, DType::kF32); }

int64_t capacity_of(Tensor logits_gse, const GatingOptions& options) {
  const auto fair = static_cast<int64_t>(static_cast<double>(logits_gse.dim(1)) * options.capacity_factor /
                                         static_cast<double>(logits_gse.dim(2)));
  if (options.expert_capacity_dim >= fair) return options.expert_capacity_dim;
  return (fair + 3) / 4 * 4;
}

/// 1 at real tokens, [G, S, 1]; null without paddings.
Tensor real_tokens(Tensor paddings_gs) { return paddings_gs ? expand_dims(1.0 - f32(paddings_gs), -1) : Tensor(); }

/// How many tokens of the group before this one chose the same expert.
Tensor place_in_queue(Tensor mask_gse) { return cumsum(mask_gse, 1) - mask_gse; }

Tensor over_capacity_ratio(Tensor mask, Tensor place, int64_t capacity) {
  const Tensor over = reduce_sum(f32(ge(mask * place, static_cast<double>(capacity))));
  return over / maximum(reduce_sum(mask), 1.0);
}

/// A token's choice: its expert as a mask [G, S, E], what of it fits, and its place in the expert's queue [G, S].
struct Choice {
  Tensor mask, fits, place;
};
Choice queue(Tensor mask, Tensor places, int64_t capacity) {
  const Tensor fits = mask * f32(lt(places, static_cast<double>(capacity)));
  return {.mask = mask, .fits = fits, .place = reduce_sum(places * fits, {-1})};
}

/// [G, S, E, C]: `gate` at the expert and place of a choice.
Tensor spread(Tensor gate_gs, const Choice& choice, int64_t capacity) {
  const Tensor expert = expand_dims(gate_gs, -1) * choice.fits;
  return einsum("gse,gsc->gsec", expert, one_hot(convert(choice.place, DType::kS32), capacity, DType::kF32));
}

Tensor second_choice(Tensor logits, Tensor gates_left, Tensor first_mask, const GatingOptions& options) {
  if (options.second_expert_policy != SecondExpertPolicy::kSampling) return argmax(gates_left, -1);
  const Tensor noise = random_gumbel(fold_in(options.random_key, 1U), logits.type());
  const Tensor left = select(gt(first_mask, 0.0), large_negative_number(DType::kF32), logits);
  return argmax(left + noise, -1);
}

void add_counts(Gating& gating, Tensor combine, Tensor paddings_gs) {
  const Tensor experts = reduce_sum(f32(ne(combine, 0.0)), {-2, -1});  // [G, S]
  const auto tokens_with = [&](double count) { return reduce_sum(f32(eq(experts, count))); };
  Tensor none = tokens_with(0);
  if (paddings_gs) none = none - reduce_sum(f32(paddings_gs));
  const Tensor one = tokens_with(1), two = tokens_with(2);
  const Tensor all = none + one + two;
  gating.summaries.push_back({"dispatch_0", none / all});
  gating.summaries.push_back({"dispatch_1", one / all});
  gating.summaries.push_back({"dispatch_2", two / all});
}

}  // namespace

std::span<const std::pair<GatingFunc, std::string_view>> enum_names(GatingFunc) {
  static constexpr std::pair<GatingFunc, std::string_view> kNames[] = {
      {GatingFunc::kTop2, "top2"},
      {GatingFunc::kExpertChoice, "expert_choice"},
      {GatingFunc::kExpertChoiceV2, "expert_choice_v2"},
      {GatingFunc::kDenseTop2, "dense_top2"},
      {GatingFunc::kDenseTopk, "dense_topk"},
  };
  return kNames;
}

std::span<const std::pair<SecondExpertPolicy, std::string_view>> enum_names(SecondExpertPolicy) {
  static constexpr std::pair<SecondExpertPolicy, std::string_view> kNames[] = {
      {SecondExpertPolicy::kAll, "all"},
      {SecondExpertPolicy::kSampling, "sampling"},
      {SecondExpertPolicy::kRandom, "random"},
  };
  return kNames;
}

Gating top2_gating(Tensor logits_gse, Tensor paddings_gs, const GatingOptions& options) {
  const int64_t experts = logits_gse.dim(2);
  const int64_t capacity = capacity_of(logits_gse, options);
  Tensor logits = f32(logits_gse);
  if (options.logit_cap > 0) logits = tanh(logits / options.logit_cap) * options.logit_cap;
  const Tensor gates = softmax(logits);
  const Tensor real = real_tokens(paddings_gs);
  const auto of_real = [&](Tensor x) { return real ? x * real : x; };
  const auto chosen = [&](Tensor expert_gs) { return of_real(one_hot(expert_gs, experts, DType::kF32)); };

  const Tensor mask_1 = chosen(argmax(gates, -1));
  Tensor gate_1 = reduce_sum(gates * mask_1, {-1});
  const Tensor gates_left = gates * (1.0 - mask_1);
  Tensor mask_2 = chosen(second_choice(logits, gates_left, mask_1, options));
  Tensor gate_2 = reduce_sum(gates_left * mask_2, {-1});
  const Tensor sum = gate_1 + gate_2 + 1e-9;
  gate_1 = gate_1 / sum;
  gate_2 = gate_2 / sum;

  Gating gating;
  const Tensor density = reduce_mean(mask_1, {1}), proxy = reduce_mean(of_real(gates), {1});
  gating.aux_loss = reduce_mean(proxy * density) * static_cast<double>(experts * experts);

  const Tensor places_1 = place_in_queue(mask_1);
  const Choice first = queue(mask_1, places_1, capacity);
  if (options.second_expert_policy == SecondExpertPolicy::kRandom) {
    // Kept in proportion to the gate: Praxis's threshold of 0 keeps every one whose gate is not 0.
    const Tensor kept = f32(lt(random_uniform(fold_in(options.random_key, 2U), gate_2.type()), gate_2 / 1e-9));
    gate_2 = gate_2 * kept;
    mask_2 = mask_2 * expand_dims(kept, -1);
  }
  // Second choices queue behind all first ones.
  const Tensor places_2 = place_in_queue(mask_2) + reduce_sum(first.fits, {1}, Reduced::kKept);
  const Choice second = queue(mask_2, places_2, capacity);
  const Tensor combine = spread(gate_1, first, capacity) + spread(gate_2, second, capacity);

  add_counts(gating, combine, paddings_gs);
  gating.summaries.push_back({"over_capacity_1_ratio", over_capacity_ratio(mask_1, places_1, capacity)});
  gating.summaries.push_back({"over_capacity_2_ratio", over_capacity_ratio(mask_2, places_2, capacity)});
  gating.combine = convert(combine, options.fprop_dtype);
  gating.dispatch = convert(ne(combine, 0.0), options.fprop_dtype);
  return gating;
}

Gating expert_choice_gating(Tensor logits_gse, const GatingOptions& options) {
  const int64_t tokens = logits_gse.dim(1);
  auto taken = static_cast<int64_t>(static_cast<double>(tokens / logits_gse.dim(2)) * options.capacity_factor);
  if (taken == 0 || taken > tokens) taken = tokens;
  const Tensor gates = swap_dims(convert(softmax(f32(logits_gse)), options.fprop_dtype), 1, 2);  // [G, E, S]
  const auto [best, places] = top_k(gates, taken);
  return {.aux_loss = full(logits_gse.graph(), {options.fprop_dtype, {}}, 0.0),
          .combine = best,
          .dispatch = one_hot(places, tokens, options.fprop_dtype)};
}

Gating expert_choice_v2_gating(Tensor logits_gse, Tensor paddings_gs, const GatingOptions& options) {
  const int64_t tokens = logits_gse.dim(1);
  const int64_t capacity = capacity_of(logits_gse, options);
  const Tensor gates = softmax(f32(logits_gse));
  const Tensor real = real_tokens(paddings_gs);
  const Tensor scores = swap_dims(real ? gates * real : gates, 1, 2);  // [G, E, S]
  const Tensor best = one_hot(top_k(stop_gradient(scores), std::min(capacity, tokens)).second, tokens, DType::kF32);
  Tensor mask = swap_dims(reduce_sum(best, {2}), 1, 2);  // [G, S, E]: which expert takes which token
  if (real) mask = mask * real;
  const Tensor place = convert(place_in_queue(mask) * mask, DType::kS32);
  const Tensor combine =
      convert(expand_dims(gates * mask, -1) * one_hot(place, capacity, DType::kF32), options.fprop_dtype);
  return {.aux_loss = full(logits_gse.graph(), {options.fprop_dtype, {}}, 0.0),
          .combine = combine,
          .dispatch = convert(ne(combine, 0.0), options.fprop_dtype)};
}

}  // namespace pax
