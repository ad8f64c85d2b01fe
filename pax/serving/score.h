#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "pax/serving/text_model.h"

namespace pax {

/// A question with answers to choose from, as LM harnesses have them: {"query": …, "choices": […], "gold": 0}.
/// `context` and `label` name the first and last as well.
struct ChoiceQuestion {
  std::string query;
  std::vector<std::string> choices;
  int64_t gold = -1;  ///< the right one; -1: not known
};

/// Reads one question a line. Throws RuntimeError naming file and line.
std::vector<ChoiceQuestion> read_questions(const std::filesystem::path& path);

struct ChoiceScores {
  std::vector<double> log_likelihoods;  ///< of each choice after the query: sums over its tokens
  std::vector<int64_t> tokens;          ///< of each choice
  int64_t best = 0;                     ///< by log-likelihood
  int64_t best_normalized = 0;          ///< by log-likelihood a byte of the choice
};

/// Log-likelihoods of all choices of all questions; texts are read side by side in the model's rows.
std::vector<ChoiceScores> score_choices(TextModel& model, const std::vector<ChoiceQuestion>& questions);

}  // namespace pax
