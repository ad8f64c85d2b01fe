#include "pax/layers/repeats.h"

#include "pax/base/error.h"
#include "pax/base/text.h"
#include "pax/ops/reshape.h"

namespace pax {

RepeatLoop::RepeatLoop(const Scope& scope, const RepeatOptions& options)
    : times_(options.times), split_(options.split), remat_(remat_policy(options.checkpoint_policy)) {
  if (times_ <= 0) fail<ConfigError>("{}: x_times is {}; set it to 1 or more", scope.path(), times_);
  int64_t product = 1;
  for (const int64_t times : options.nd_prefix_shape.value_or(std::vector<int64_t>{times_})) {
    product *= times;
    levels_.push_back({times, scope.graph().new_loop()});
  }
  if (product != times_) {
    fail<ConfigError>("{}: nd_prefix_shape [{}] multiplies to {}, x_times is {}", scope.path(),
                      join(*options.nd_prefix_shape, ", "), product, times_);
  }
}

Scope RepeatLoop::inside(Scope scope) const {
  for (const Level& level : levels_) {
    const bool last = &level == &levels_.back();
    scope = scope.repeated(level.times, level.loop, last ? split_ : std::vector<std::string>{});
  }
  return scope;
}

std::vector<Iteration> RepeatLoop::turn(int64_t i) const {
  std::vector<Iteration> turn;
  for (auto level = levels_.rbegin(); level != levels_.rend(); ++level) {
    turn.push_back({level->loop, i % level->times});
    i /= level->times;
  }
  return turn;
}

RepeatLoop::Results RepeatLoop::run_level(size_t level, Tensor x, const Body& body) const {
  const bool innermost = level + 1 == levels_.size();
  const ScanOptions options{
      .length = levels_[level].times, .remat = innermost ? remat_ : nullptr, .loop = levels_[level].loop};
  ScanStep all =
      scan(x.graph(), options, std::span(&x, 1), {}, [&](std::span<const Tensor> carry, std::span<const Tensor>) {
        if (!innermost) {
          Results inner = run_level(level + 1, carry[0], body);
          return ScanStep{.carry = {inner.last}, .ys = std::move(inner.stacked)};
        }
        std::vector<Tensor> results = body(carry[0]);
        return ScanStep{.carry = {results[0]}, .ys = {results.begin() + 1, results.end()}};
      });
  if (!innermost) {
    for (Tensor& y : all.ys) y = merge_dims(y, 0, 1);
  }
  return {.last = all.carry[0], .stacked = std::move(all.ys)};
}

Repeat::Repeat(const Config& config, const Scope& scope)
    : Layer(config, scope),
      return_intermediate_outputs_(config.return_intermediate_outputs),
      loop_(this->scope(),
            {.times = config.x_times,
             .nd_prefix_shape = config.nd_prefix_shape,
             .checkpoint_policy = config.checkpoint_policy,
             .split = weight_split("sub").empty() ? std::vector<std::string>{} : weight_split("sub")[0]}),
      sub_(config.sublayer_name, config.sub_tpl.build(loop_.inside(this->scope().child(config.sublayer_name)))) {}

Tensor Repeat::fprop(Tensor x) const {
  const RepeatLoop::Results all = loop_.run(x, [&](Tensor in) {
    const Tensor out = sub_->fprop(in);
    return return_intermediate_outputs_ ? std::vector<Tensor>{out, out} : std::vector<Tensor>{out};
  });
  return return_intermediate_outputs_ ? all.stacked[0] : all.last;
}

template const config::ConfigType& config::type_of<Repeat::Config>();

}  // namespace pax
