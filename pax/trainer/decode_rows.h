#pragma once

#include <string>

#include "pax/data/input.h"
#include "pax/metrics/text_scores.h"
#include "pax/metrics/weighted_mean.h"

namespace pax {

/// What a decoder wrote, row by row, as lines of JSON and as metrics.
class DecodedRows {
 public:
  /// `input`: whose tokenizer reads the ids.
  explicit DecodedRows(const data::Input& input) : input_(input) {}

  /// The decoder's results for a batch; rows of no weight are left out. Of several samples the first one counts, the
  /// others are listed as `sampled`.
  void add(const HostTree& batch, const HostTree& decoded);

  const std::string& text() const { return text_; }
  /// `decoded_length`, `num_decoded`, and of rows that have a reference `exact_match`, `f1`, `rouge1`, `rouge2`,
  /// `rougeL` and `bleu`, in percent.
  Tree<WeightedScalar> metrics() const;

 private:
  const data::Input& input_;
  std::string text_;
  WeightedMean length_;
  int64_t rows_ = 0;
  TextScores scores_;
};

}  // namespace pax
