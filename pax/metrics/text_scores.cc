#include "pax/metrics/text_scores.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace pax {
namespace {

using Words = std::vector<std::string>;

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
bool is_alnum(char c) { return is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'z'); }
bool is_punctuation(char c) { return c > ' ' && c < 0x7f && !is_alnum(c); }

Words split_words(std::string_view text) {
  Words words;
  std::string word;
  for (const char c : text) {
    if (!is_space(c)) {
      word.push_back(c);
    } else if (!word.empty()) {
      words.push_back(std::move(word));
      word.clear();
    }
  }
  if (!word.empty()) words.push_back(std::move(word));
  return words;
}

/// SQuAD's form of an answer.
Words answer_words(std::string_view text) {
  std::string plain;
  for (const char c : text) {
    if (!is_punctuation(c)) plain.push_back(lower(c));
  }
  Words words = split_words(plain);
  std::erase_if(words, [](const std::string& word) { return word == "a" || word == "an" || word == "the"; });
  return words;
}

/// Runs of letters and digits, lower case.
Words rouge_words(std::string_view text) {
  std::string plain;
  for (const char c : text) plain.push_back(is_alnum(c) ? lower(c) : ' ');
  return split_words(plain);
}

std::map<Words, double> ngrams(const Words& words, size_t n) {
  std::map<Words, double> counts;
  for (size_t i = 0; i + n <= words.size(); ++i) ++counts[Words(words.begin() + i, words.begin() + i + n)];
  return counts;
}

double overlap(const std::map<Words, double>& a, const std::map<Words, double>& b) {
  double common = 0;
  for (const auto& [gram, count] : a) {
    const auto at = b.find(gram);
    if (at != b.end()) common += std::min(count, at->second);
  }
  return common;
}

double total(const std::map<Words, double>& counts) {
  double sum = 0;
  for (const auto& [gram, count] : counts) sum += count;
  return sum;
}

double f_measure(double common, double size, double reference_size) {
  if (common == 0) return 0;
  const double precision = common / size, recall = common / reference_size;
  return 2 * precision * recall / (precision + recall);
}

double f1_of(const Words& words, const Words& reference) {
  if (words.empty() || reference.empty()) return words == reference ? 1 : 0;
  return f_measure(overlap(ngrams(words, 1), ngrams(reference, 1)), static_cast<double>(words.size()),
                   static_cast<double>(reference.size()));
}

double rouge_n(const Words& words, const Words& reference, size_t n) {
  const auto ours = ngrams(words, n), theirs = ngrams(reference, n);
  return f_measure(overlap(ours, theirs), total(ours), total(theirs));
}

double rouge_l(const Words& words, const Words& reference) {
  std::vector<size_t> row(reference.size() + 1);
  for (const std::string& word : words) {
    size_t diagonal = 0;
    for (size_t j = 1; j <= reference.size(); ++j) {
      const size_t above = row[j];
      row[j] = word == reference[j - 1] ? diagonal + 1 : std::max(above, row[j - 1]);
      diagonal = above;
    }
  }
  return f_measure(static_cast<double>(row.back()), static_cast<double>(words.size()),
                   static_cast<double>(reference.size()));
}

}  // namespace

std::vector<std::string> bleu_words(std::string_view text) {
  const std::string padded = " " + std::string(text) + " ";
  std::string spaced;
  for (size_t i = 1; i + 1 < padded.size(); ++i) {
    const char c = padded[i], before = padded[i - 1], after = padded[i + 1];
    bool alone = is_punctuation(c) && c != '\'' && c != '.' && c != ',' && c != '-';
    if (c == '.' || c == ',') alone = !is_digit(before) || !is_digit(after);
    if (c == '-') alone = is_digit(before);
    if (alone) spaced += ' ';
    spaced += c;
    if (alone) spaced += ' ';
  }
  return split_words(spaced);
}

void TextScores::add(std::string_view text, std::string_view reference) {
  ++texts_;
  const Words answer = answer_words(text), expected = answer_words(reference);
  exact_ += answer == expected ? 1 : 0;
  f1_ += f1_of(answer, expected);
  const Words ours = rouge_words(text), theirs = rouge_words(reference);
  rouge_[0] += rouge_n(ours, theirs, 1);
  rouge_[1] += rouge_n(ours, theirs, 2);
  rouge_[2] += rouge_l(ours, theirs);
  const Words words = bleu_words(text), reference_words = bleu_words(reference);
  for (size_t n = 0; n < matches_.size(); ++n) {
    const auto grams = ngrams(words, n + 1);
    matches_[n] += overlap(grams, ngrams(reference_words, n + 1));
    totals_[n] += total(grams);
  }
  length_ += static_cast<double>(words.size());
  reference_length_ += static_cast<double>(reference_words.size());
}

Tree<WeightedScalar> TextScores::result() const {
  if (texts_ == 0) return {};
  const auto count = static_cast<double>(texts_);
  double log_precision = 0, smooth = 1;
  bool none = matches_[0] == 0;
  for (size_t n = 0; n < matches_.size() && !none; ++n) {
    if (totals_[n] == 0) {
      none = true;
      break;
    }
    if (matches_[n] == 0) smooth *= 2;
    const double matches = matches_[n] == 0 ? 1 / smooth : matches_[n];
    log_precision += std::log(matches / totals_[n]) / 4;
  }
  const double brevity = length_ < reference_length_ ? std::exp(1 - reference_length_ / length_) : 1;
  Tree<WeightedScalar> scores;
  scores["exact_match"] = {100 * exact_ / count, count};
  scores["f1"] = {100 * f1_ / count, count};
  scores["rouge1"] = {100 * rouge_[0] / count, count};
  scores["rouge2"] = {100 * rouge_[1] / count, count};
  scores["rougeL"] = {100 * rouge_[2] / count, count};
  scores["bleu"] = {none ? 0 : 100 * brevity * std::exp(log_precision), count};
  return scores;
}

}  // namespace pax
