#pragma once

#include <filesystem>
#include <optional>

#include "pax/trainer/variables.h"

namespace pax {

struct ExportOptions {
  std::filesystem::path job_log_dir, out;
  std::optional<int64_t> step;
  WhichWeights weights = WhichWeights::kAsConfigured;
  int64_t rows = 1;    ///< texts written side by side
  int64_t length = 0;  ///< tokens of a text
};

/// Writes a trained model for other programs, into folder `out`: `extend_step.mlir` (StableHLO: one token of each row
/// and the cache to logits and the next cache), `weights.safetensors`, and `manifest.json` with names, types and roles
/// of arguments and results in their order. Custom calls are not used: any StableHLO runtime runs it. Returns the
/// checkpoint's step.
int64_t export_stablehlo(const ExperimentConfig& config, const ExportOptions& options);

}  // namespace pax
