#include "pax/layers/transformers/pipelined_transformer.h"

#include <fmt/format.h>

#include "pax/base/error.h"
#include "pax/layers/pipeline.h"
#include "pax/ops/random.h"

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

int64_t PipelinedTransformer::microbatches(int64_t batch) const {
  const auto count = config_.num_pipeline_microbatches, size = config_.pipeline_microbatch_size;
  if ((count && batch % *count != 0) || (size && batch % *size != 0) || (count && size && *count * *size != batch)) {
    fail(fmt::format("a batch of {} rows is not {} microbatches of {}; change one of them", batch,
                     count ? std::to_string(*count) : "some", size ? std::to_string(*size) : "equal size"));
  }
  return count ? *count : size ? batch / *size : 1;
}

Tensor PipelinedTransformer::fprop(const StackInputs& inputs) const {
  if (inputs.cache != nullptr) fail("a pipeline does not decode; use a repeated stack with nd_prefix_shape");
  const int64_t batch = inputs.x_btd.dim(0);
  // What has rows of the batch goes along with them; the rest is the same for all.
  std::vector<Tensor StackInputs::*> members;
  std::vector<Tensor> shared;
  for (const auto member :
       {&StackInputs::paddings_bt, &StackInputs::segment_mask, &StackInputs::cross_bsd, &StackInputs::cross_paddings_bs,
        &StackInputs::cross_segment_mask, &StackInputs::segment_pos_bt}) {
    if (!(inputs.*member) || (inputs.*member).dim(0) != batch) continue;
    members.push_back(member);
    shared.push_back(inputs.*member);
  }
  const std::vector<Iteration> loops = loop_.turn(0);
  const auto split = weight_split("stages");
  const PipelineOptions options{.stages = *config_.num_pipeline_stages,
                                .circular_repeat = config_.circular_repeat,
                                .microbatches = microbatches(batch),
                                .checkpoint_policy = config_.checkpoint_policy,
                                .split = split.empty() ? std::vector<std::string>{} : split[0],
                                .stage_loop = loops[0].loop,
                                .circular_loop = loops.size() > 1 ? loops[1].loop : 0};
  const Tensor out =
      run_pipeline(inputs.x_btd, shared, options, [&](Tensor x, Tensor microbatch, std::span<const Tensor> along) {
        StackInputs stage = inputs;
        stage.x_btd = x;
        for (size_t i = 0; i < members.size(); ++i) stage.*members[i] = along[i];
        return run_stage(stage, microbatch);
      });
  return shard(out, "final_out");
}

Tensor PipelinedTransformer::run_stage(const StackInputs& inputs, Tensor microbatch) const {
  // Each microbatch draws its own random numbers.
  Tensor& key = scope().trace().random_key;
  const Tensor whole_batch = key;
  if (whole_batch) key = fold_in(whole_batch, microbatch);
  const Tensor out = body_->fprop(inputs);
  key = whole_batch;
  return out;
}

template const config::ConfigType& config::type_of<PipelinedTransformer::Config>();

}  // namespace pax
