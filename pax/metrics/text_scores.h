#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "pax/metrics/weighted_mean.h"

namespace pax {

/// How near texts come to their references, over a data set, all in percent.
class TextScores {
 public:
  void add(std::string_view text, std::string_view reference);

  /// `exact_match` and `f1` (SQuAD: lower case, no punctuation, no articles), `rouge1`, `rouge2`, `rougeL` (F-measure
  /// of lower-case words, no stemming), each a mean over the texts; `bleu` of the whole set (Papineni et al. 2002: up
  /// to four words, counts of zero smoothed as in sacreBLEU's "exp", words cut as by its "13a"). Empty without texts.
  Tree<WeightedScalar> result() const;

 private:
  int64_t texts_ = 0;
  double exact_ = 0, f1_ = 0;
  std::array<double, 3> rouge_{};
  std::array<double, 4> matches_{}, totals_{};
  double length_ = 0, reference_length_ = 0;
};

/// Words of a text as sacreBLEU's tokenizer "13a" cuts them (of ASCII punctuation).
std::vector<std::string> bleu_words(std::string_view text);

}  // namespace pax
