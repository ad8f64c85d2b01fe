#include "pax/layers/masked_lm_head.h"

namespace pax {

MaskedLmHead::MaskedLmHead(const Config& config, const Scope& scope) : Layer(config, scope) {
  FeedForward::Config dense;
  dense.input_dims = config.dim;
  dense.output_dims = config.dim;
  dense.activation_tpl = config.activation_tpl.clone();
  dense_ = child("dense", Tpl<Layer>(dense));
  auto norm = config.ln_tpl.clone();
  norm.set("dim", config.dim);
  ln_ = child("ln", norm);
}

Tensor MaskedLmHead::fprop(Tensor x) const {
  const Tensor y = dense_->fprop(x);
  return ln_->fprop(y);
}

template const config::ConfigType& config::type_of<MaskedLmHead::Config>();

}  // namespace pax
