#pragma once

#include <nlohmann/json_fwd.hpp>

#include "cli/commands.h"
#include "pax/metrics/weighted_mean.h"
#include "pax/trainer/follow.h"

namespace pax::cli {

/// Which checkpoints of a run are looked at, and with which weights.
struct CheckpointFlags {
  FollowOptions follow;
  bool ema = false;
  bool redo = false;
};
int eval_command(const Common& common, const CheckpointFlags& flags);

struct DecodeFlags : CheckpointFlags {
  int64_t prompt_tokens = 0;
  int64_t max_batches = 0;
};
int decode_command(const Common& common, const DecodeFlags& flags);

/// Metrics by data set, as JSON and as lines on standard output.
nlohmann::json metrics_json(const Tree<Tree<WeightedScalar>>& metrics);
void print_metrics(const Tree<Tree<WeightedScalar>>& metrics);

}  // namespace pax::cli
