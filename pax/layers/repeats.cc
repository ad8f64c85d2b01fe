#include "pax/layers/repeats.h"

#include "pax/control/scan.h"

namespace pax {

Repeat::Repeat(const Config& config, const Scope& scope)
    : Layer(config, scope),
      x_times_(config.x_times),
      remat_(remat_policy(config.checkpoint_policy)),
      loop_(graph().new_loop()),
      sub_("sub", config.sub_tpl.build(this->scope().child("sub").repeated(x_times_, loop_))) {}

Tensor Repeat::fprop(Tensor x) const {
  const ScanOptions options{.length = x_times_, .remat = remat_, .loop = loop_};
  return scan(graph(), options, std::span(&x, 1), {},
              [&](std::span<const Tensor> carry, std::span<const Tensor>) {
                return ScanStep{.carry = {sub_->fprop(carry[0])}};
              })
      .carry[0];
}

}  // namespace pax
