#pragma once

#include <functional>
#include <span>

#include "pax/control/remat.h"
#include "pax/control/scan.h"

namespace pax {

struct PipelineOptions {
  int64_t stages = 1;
  int64_t circular_repeat = 1;  ///< turns of a microbatch through all stages
  int64_t microbatches = 1;     ///< with several turns, at least as many as stages
  AutodiffCheckpointType checkpoint_policy = AutodiffCheckpointType::kSaveIterationInput;
  std::vector<std::string> split;  ///< mesh axes that the stages are split over
  int64_t stage_loop = 0;          ///< `each_iteration` values of this loop are what each stage has of its own
  int64_t circular_loop = 0;       ///< and of this one, what each turn has
};

/// A stage: from its input, the number of its microbatch (i32 scalar) and what goes along with that to its output, of
/// the input's type.
using PipelineStage = std::function<Tensor(Tensor x, Tensor microbatch, std::span<const Tensor> shared)>;

/// Runs all stages at once, each on another microbatch, and shifts their outputs on to the next stage (praxis
/// pipeline.LayerwiseShardablePipelined and its circular sister): microbatches * turns + stages - 1 iterations of one
/// loop. `x` [B, …] is cut into microbatches of every microbatches-th row; each of `shared` [B, …] goes along. What
/// comes out is what the stages one after the other give. Auxiliary losses and summaries are means over microbatches,
/// stages in front; those of stages without a microbatch do not count. Throws ShapeError when B does not divide.
Tensor run_pipeline(Tensor x, std::span<const Tensor> shared, const PipelineOptions& options,
                    const PipelineStage& stage);

}  // namespace pax
