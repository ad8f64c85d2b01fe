#include "pax/layers/transformers/norm_policy.h"

namespace pax {

std::span<const std::pair<NormPolicy, std::string_view>> enum_names(NormPolicy) {
  static constexpr std::pair<NormPolicy, std::string_view> kNames[] = {
      {NormPolicy::kPre, "pre"},
      {NormPolicy::kPrimerHybrid, "primer_hybrid"},
      {NormPolicy::kPost, "post"},
      {NormPolicy::kPostSkip, "post_skip"},
  };
  return kNames;
}

}  // namespace pax
