#pragma once

#include <filesystem>
#include <functional>
#include <optional>

#include "pax/metrics/weighted_mean.h"
#include "pax/trainer/session.h"
#include "pax/trainer/variables.h"

namespace pax {

struct DecodeRunOptions {
  std::filesystem::path job_log_dir;
  WhichWeights weights = WhichWeights::kAsConfigured;
  bool redo = false;          ///< also what `decoder_out` already has
  int64_t prompt_tokens = 0;  ///< the first tokens of each row are its prompt; 0: what the batch says
  int64_t max_batches = 0;    ///< of each data set; 0: as the input says
};

struct DecodeOutcome {
  int64_t step = 0;
  Tree<Tree<WeightedScalar>> metrics;  ///< by data set: `decoded_length`, `num_decoded`, scores against the references
  Tree<std::filesystem::path> files;   ///< by data set
  int64_t done_before = 0;             ///< data sets that were decoded already
  bool stopped = false;
};

/// Decodes every eval input with the model's own decoder. Each row becomes a line of JSON in
/// `decoder_out/<data set>/decoder_out_<step>_shard_0.jsonl`, as Paxml writes it (`prefix`, `decoded`, `original`,
/// `ids`, …); a file that is there already is left as it is.
class DecodeRun {
 public:
  /// Throws ConfigError when the experiment has no eval inputs.
  DecodeRun(const ExperimentConfig& config, DecodeRunOptions options);

  DecodeOutcome decode(int64_t step, const std::function<bool()>& stop_requested);

 private:
  struct Work;
  const Program& program_of(Work& work);
  bool decode_input(Work& work, const DeviceTree& variables, const std::function<bool()>& stop_requested,
                    DecodeOutcome& outcome);

  const DecodeRunOptions options_;
  Session session_;
  std::vector<std::shared_ptr<Work>> work_;
};

}  // namespace pax
