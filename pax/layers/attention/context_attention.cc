#include "pax/layers/attention/context_attention.h"

#include "pax/layers/attention/local_self_attention.h"
#include "pax/layers/attention/masks.h"
#include "pax/ops/elementwise.h"

namespace pax {
namespace {

Tensor near(Tensor mask, const ContextConfig& context, int64_t queries, int64_t keys) {
  if (!context.left_context && !context.right_context) return mask;
  return minimum(mask, limited_context_mask(mask.graph(), {context.left_context, context.right_context}, queries, keys,
                                            mask.dtype()));
}

}  // namespace

DotProductAttention::Context DotProductAttentionWithContext::attend(const Heads& heads) const {
  Heads limited = heads;
  limited.mask = near(heads.mask, context_, heads.query.dim(1), heads.key.dim(1));
  return DotProductAttention::attend(limited);
}

Tensor DotProductAttentionWithContext::mask_one_step(Tensor mask, Tensor time_step) const {
  return near_in_step(mask, time_step, context_.left_context, context_.right_context);
}

DotProductAttention::Context DotProductAttentionWithContextXL::attend(const Heads& heads) const {
  Heads limited = heads;
  limited.mask = near(heads.mask, context_, heads.query.dim(1), heads.key.dim(1));
  return DotProductAttentionXL::attend(limited);
}

Tensor DotProductAttentionWithContextXL::mask_one_step(Tensor mask, Tensor time_step) const {
  return near_in_step(mask, time_step, context_.left_context, context_.right_context);
}

template const config::ConfigType& config::type_of<DotProductAttentionWithContext::Config>();
template const config::ConfigType& config::type_of<DotProductAttentionWithContextXL::Config>();

}  // namespace pax
