#include "pax/layers/transformers/pipelined_transformer.h"

#include <fmt/format.h>

#include "pax/base/error.h"
#include "pax/ops/identity.h"

namespace pax {
namespace {

RepeatOptions stages_of(const PipelinedTransformer::Config& config, const Scope& scope,
                        const std::vector<std::vector<std::string>>& split) {
  if (!config.num_pipeline_stages) fail<ConfigError>("{}: num_pipeline_stages is missing; set it", scope.path());
  RepeatOptions options{.times = config.circular_repeat * *config.num_pipeline_stages,
                        .checkpoint_policy = config.checkpoint_policy,
                        .split = split.empty() ? std::vector<std::string>{} : split[0]};
  if (config.circular_repeat > 1) options.nd_prefix_shape = {config.circular_repeat, *config.num_pipeline_stages};
  return options;
}

}  // namespace

PipelinedTransformer::PipelinedTransformer(const Config& config, const Scope& scope)
    : TransformerStack(config, scope),
      config_(config),
      loop_(this->scope(), stages_of(config, this->scope(), weight_split("stages"))) {
  const Graph::PathGuard path(graph(), "pipeline/body");
  body_ = Child<TransformerStack>("pipeline/body",
                                  config.pipeline_stage.build(loop_.inside(this->scope().child("pipeline/body"))));
}

void PipelinedTransformer::check_microbatches(int64_t batch) const {
  const auto count = config_.num_pipeline_microbatches, size = config_.pipeline_microbatch_size;
  if ((count && batch % *count != 0) || (size && batch % *size != 0) || (count && size && *count * *size != batch)) {
    fail(fmt::format("a batch of {} rows is not {} microbatches of {}; change one of them", batch,
                     count ? std::to_string(*count) : "some", size ? std::to_string(*size) : "equal size"));
  }
}

Tensor PipelinedTransformer::fprop(const StackInputs& inputs) const {
  if (inputs.cache != nullptr) fail("a pipeline does not decode; use a repeated stack with nd_prefix_shape");
  check_microbatches(inputs.x_btd.dim(0));
  const Tensor out = loop_
                         .run(inputs.x_btd,
                              [&](Tensor x) {
                                StackInputs stage = inputs;
                                stage.x_btd = checkpoint_name(x, "iteration_input");
                                return std::vector<Tensor>{body_->fprop(stage)};
                              })
                         .last;
  return shard(out, "final_out");
}

template const config::ConfigType& config::type_of<PipelinedTransformer::Config>();

}  // namespace pax
