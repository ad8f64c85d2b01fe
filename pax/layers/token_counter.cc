#include "pax/layers/token_counter.h"

#include "pax/ops/convert.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/reduce.h"

namespace pax {

TokenCounter::TokenCounter(const Config& config, const Scope& scope)
    : Layer(config, scope),
      approx_total_tokens_mm_(param("approx_total_tokens_mm", {.shape = {},
                                                               .init = WeightInit::constant(0.0),
                                                               .collection = Collection::kNonTrainable,
                                                               .tags = {.disallow_bfloat16_conversion = true}})) {}

void TokenCounter::count(Tensor paddings) const {
  if (do_eval()) return;
  scope().add_summary("approx_total_tokens_mm", approx_total_tokens_mm_);
  const Tensor millions = reduce_sum(1.0 - convert(paddings, DType::kF32)) / 1e6;
  scope().update("approx_total_tokens_mm", convert(approx_total_tokens_mm_, DType::kF32) + millions);
}

template const config::ConfigType& config::type_of<TokenCounter::Config>();

}  // namespace pax
