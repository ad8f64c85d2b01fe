#include "pax/serving/score.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "pax/base/error.h"
#include "pax/base/files.h"
#include "pax/base/text.h"

namespace pax {
namespace {

using nlohmann::json;

const json* member(const json& object, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const auto at = object.find(name);
    if (at != object.end() && !at->is_null()) return &*at;
  }
  return nullptr;
}

ChoiceQuestion question_of(const json& object, const std::string& place) {
  const json* query = object.is_object() ? member(object, {"query", "context", "question"}) : nullptr;
  const json* choices = object.is_object() ? member(object, {"choices"}) : nullptr;
  if (query == nullptr || !query->is_string() || choices == nullptr || !choices->is_array() || choices->empty() ||
      !std::ranges::all_of(*choices, [](const json& choice) { return choice.is_string(); })) {
    fail<RuntimeError>("{}: a line is {{\"query\": text, \"choices\": [text, …], \"gold\": index}}", place);
  }
  ChoiceQuestion question{.query = query->get<std::string>(), .choices = choices->get<std::vector<std::string>>()};
  if (const json* gold = member(object, {"gold", "label", "answer"})) {
    const bool in_range = gold->is_number_integer() && gold->get<double>() >= 0 &&
                          gold->get<double>() < static_cast<double>(question.choices.size());
    if (!in_range)
      fail<RuntimeError>("{}: gold is {}; there are choices 0 to {}", place, gold->dump(), question.choices.size() - 1);
    question.gold = gold->get<int64_t>();
  }
  return question;
}

/// A choice being read: the whole text, and from where on it counts.
struct Reading {
  size_t question, choice;
  std::vector<int32_t> ids;
  size_t first;
};

double log_probability(std::span<const float> logits, int32_t id) {
  const float largest = *std::ranges::max_element(logits);
  double sum = 0;
  for (const float logit : logits) sum += std::exp(static_cast<double>(logit - largest));
  const double result = logits[static_cast<size_t>(id)] - largest - std::log(sum);
  if (std::isnan(result)) {
    fail<RuntimeError>("score: the model's logits are NaN; its weights are damaged or its training diverged");
  }
  return result;
}

Reading reading_of(const TextModel& model, const ChoiceQuestion& question, size_t number, size_t choice) {
  const std::vector<int32_t> query = model.encode_prompt(question.query);
  const std::string whole = question.query + question.choices[choice];
  Reading reading{.question = number, .choice = choice, .ids = model.encode_prompt(whole), .first = query.size()};
  // Where the tokens of query and choice grow together, those that differ count.
  const size_t shorter = std::min(reading.first, reading.ids.size() - 1);
  const auto differ = std::mismatch(query.begin(), query.begin() + static_cast<int64_t>(shorter), reading.ids.begin());
  reading.first = std::max<size_t>(1, static_cast<size_t>(differ.first - query.begin()));
  return reading;
}

}  // namespace

std::vector<ChoiceQuestion> read_questions(const std::filesystem::path& path) {
  std::vector<ChoiceQuestion> questions;
  int64_t number = 0;
  for (const std::string& line : split(read_file(path), '\n')) {
    ++number;
    if (line.find_first_not_of(" \r\t") == std::string::npos) continue;
    const std::string place = fmt::format("{}:{}", path.string(), number);
    const json object = json::parse(line, nullptr, false);
    if (object.is_discarded()) fail<RuntimeError>("{}: the line is not JSON", place);
    questions.push_back(question_of(object, place));
  }
  if (questions.empty()) fail<RuntimeError>("{}: it has no questions", path.string());
  return questions;
}

std::vector<ChoiceScores> score_choices(TextModel& model, const std::vector<ChoiceQuestion>& questions) {
  std::vector<ChoiceScores> scores(questions.size());
  std::vector<Reading> readings;
  for (size_t q = 0; q < questions.size(); ++q) {
    for (size_t c = 0; c < questions[q].choices.size(); ++c) readings.push_back(reading_of(model, questions[q], q, c));
    scores[q].log_likelihoods.resize(questions[q].choices.size());
    scores[q].tokens.resize(questions[q].choices.size());
  }
  StepModel& steps = model.steps();
  const auto vocab = static_cast<size_t>(steps.vocab_size());
  const auto rows = static_cast<size_t>(steps.rows());
  for (size_t begin = 0; begin < readings.size(); begin += rows) {
    const std::span batch(readings.data() + begin, std::min(rows, readings.size() - begin));
    size_t left = 0;
    for (size_t row = 0; row < batch.size(); ++row) {
      // The last token of the query is read by the first step.
      steps.prefill(static_cast<int64_t>(row), std::span(batch[row].ids).first(batch[row].first));
      left = std::max(left, batch[row].ids.size() - batch[row].first);
    }
    for (size_t step = 0; step < left; ++step) {
      std::vector<int32_t> ids(rows), positions(rows);
      for (size_t row = 0; row < batch.size(); ++row) {
        const size_t at = std::min(batch[row].first + step, batch[row].ids.size()) - 1;
        ids[row] = batch[row].ids[at];
        positions[row] = static_cast<int32_t>(at);
      }
      const HostArray logits = steps.step(ids, positions);
      for (size_t row = 0; row < batch.size(); ++row) {
        const Reading& reading = batch[row];
        const size_t at = reading.first + step;
        if (at >= reading.ids.size()) continue;
        ChoiceScores& score = scores[reading.question];
        score.log_likelihoods[reading.choice] +=
            log_probability(logits.values<float>().subspan(row * vocab, vocab), reading.ids[at]);
        ++score.tokens[reading.choice];
      }
    }
  }
  for (size_t q = 0; q < questions.size(); ++q) {
    std::vector<double> normalized;
    for (size_t c = 0; c < questions[q].choices.size(); ++c) {
      const auto bytes = static_cast<double>(std::max<size_t>(1, questions[q].choices[c].size()));
      normalized.push_back(scores[q].log_likelihoods[c] / bytes);
    }
    const auto best = [](const std::vector<double>& values) {
      return std::ranges::max_element(values) - values.begin();
    };
    scores[q].best = best(scores[q].log_likelihoods);
    scores[q].best_normalized = best(normalized);
  }
  return scores;
}

}  // namespace pax
