#pragma once

#include <memory>
#include <vector>

#include "pax/data/tokenizer.h"
#include "pax/trainer/experiment.h"

namespace pax {

/// The training input. Throws ConfigError when the experiment has none.
std::shared_ptr<data::Input> build_train_input(const ExperimentConfig& config);

/// The inputs to evaluate on, each with a name of its own: `eval_inputs`, or what `input` holds back from training.
std::vector<std::shared_ptr<data::Input>> build_eval_inputs(const ExperimentConfig& config);

/// The tokenizer of the training input, or else of an eval input; no data is opened when the config names it. Throws
/// ConfigError when there is none.
std::shared_ptr<const data::Tokenizer> build_tokenizer(const ExperimentConfig& config);

/// Ids of the model's vocabulary: `task.model.lm_tpl.vocab_size`; 0 when the model has no such field.
int64_t vocabulary_size(const ExperimentConfig& config);

}  // namespace pax
