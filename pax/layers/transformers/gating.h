#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "pax/ir/op.h"

namespace pax {

// G: groups, S: tokens of a group, E: experts, C: capacity of an expert in a group.

/// How tokens find experts: each takes its two best (GShard); each expert takes its best tokens (Zhou et al. 2022), in
/// two forms; each takes its two best, or as many as asked for, without any limit.
enum class GatingFunc : uint8_t { kTop2, kExpertChoice, kExpertChoiceV2, kDenseTop2, kDenseTopk };
/// "top2", "expert_choice", "expert_choice_v2", "dense_top2", "dense_topk".
std::span<const std::pair<GatingFunc, std::string_view>> enum_names(GatingFunc);

/// How the second expert is chosen: the next best; drawn by gate; the next best, kept by chance.
enum class SecondExpertPolicy : uint8_t { kAll, kSampling, kRandom };
/// "all", "sampling", "random".
std::span<const std::pair<SecondExpertPolicy, std::string_view>> enum_names(SecondExpertPolicy);

struct GatingOptions {
  int64_t expert_capacity_dim = 0;  ///< at least this
  double capacity_factor = 0;       ///< at least S * factor / E, rounded up to a multiple of 4; 0: no such rule
  double logit_cap = 0;             ///< 0: none
  SecondExpertPolicy second_expert_policy = SecondExpertPolicy::kAll;
  Tensor random_key;  ///< for policies that draw
  DType fprop_dtype = DType::kF32;
};

/// Which token goes to which place of which expert, and how much of the expert's answer it takes.
struct Gating {
  Tensor aux_loss;  ///< scalar
  Tensor combine;   ///< [G, S, E, C]; of expert_choice [G, E, C]
  Tensor dispatch;  ///< [G, S, E, C]; of expert_choice [G, E, C, S]
  struct Summary {
    std::string_view name;
    Tensor value;
  };
  std::vector<Summary> summaries;
};

/// From gating logits [G, S, E] and 0/1 paddings [G, S] (may be null). All in float32 inside.
Gating top2_gating(Tensor logits_gse, Tensor paddings_gs, const GatingOptions& options);
Gating expert_choice_gating(Tensor logits_gse, const GatingOptions& options);
Gating expert_choice_v2_gating(Tensor logits_gse, Tensor paddings_gs, const GatingOptions& options);

}  // namespace pax
