#pragma once

#include <filesystem>
#include <optional>

#include "pax/data/tokenizer.h"
#include "pax/serving/slot_loop.h"
#include "pax/trainer/variables.h"

namespace pax {

struct TextModelOptions {
  std::filesystem::path job_log_dir;
  std::optional<int64_t> step;  ///< unset: the newest checkpoint
  int64_t rows = 1;             ///< texts written side by side
  int64_t seqlen = 0;           ///< tokens of a text, prompt included; 0: what the experiment says
  WhichWeights weights = WhichWeights::kAsConfigured;
  std::optional<bool> add_bos;  ///< unset: see `encode_prompt`
};

/// Tokens of a text, prompt included: as asked, or else (0) as the decoder says, or as the model was trained. Throws
/// ConfigError when the model has fewer learnt positions.
int64_t text_length(const ExperimentConfig& config, int64_t asked);

/// A trained language model with its tokenizer, in memory and ready to write.
class TextModel {
 public:
  /// Loads a checkpoint of a run and compiles. Throws RuntimeError when there is none, or of another model.
  TextModel(const ExperimentConfig& config, const TextModelOptions& options);

  int64_t checkpoint_step() const { return checkpoint_step_; }
  const data::Tokenizer& tokenizer() const { return *tokenizer_; }
  StepModel& steps() { return *steps_; }
  int64_t compile_count() const { return session_.compile_count(); }
  /// Ids that may be written: those of the tokenizer.
  int64_t vocab_limit() const;

  /// What the experiment's decoder says. A text ends at the tokenizer's end token and at the decoder's, unless that is
  /// Praxis's default of 2.
  SamplingOptions default_sampling() const;

  /// Ids of a prompt. The beginning token stands in front if the tokenizer has one that is not its end token, too
  /// (bytes need none), or as `add_bos` says; it alone is what an empty prompt becomes. Throws ConfigError for an empty
  /// prompt without one, and for a prompt that leaves no room to write.
  std::vector<int32_t> encode_prompt(std::string_view text) const;

  /// Throws ConfigError when a prompt is empty, leaves no room to write, or has an id that is not in the vocabulary.
  void require_prompt(std::span<const int32_t> ids) const;

 private:
  const std::optional<bool> add_bos_;
  Session session_;
  std::shared_ptr<const data::Tokenizer> tokenizer_;
  int64_t checkpoint_step_ = 0;
  std::unique_ptr<StepModel> steps_;
};

}  // namespace pax
