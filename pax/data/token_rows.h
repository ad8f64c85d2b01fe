#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pax/array/tree.h"

namespace pax::data {

/// One row of a batch as tokens. Fields that the batch has not are empty.
struct TokenRow {
  std::span<const int32_t> ids;
  std::span<const float> weights, paddings;
  std::span<const int32_t> segments;

  /// From 1; 0 is padding. Without segments all that is not padding is segment 1.
  int32_t segment(size_t at) const;
  /// Without weights: 1, and 0 for padding.
  float weight(size_t at) const;
  /// Whether both belong to one segment and both have weight or none.
  bool same_run(size_t a, size_t b) const;
};

/// The rows of one branch of a batch: labels where it has them, else ids.
struct TokenRows {
  std::string prefix;  ///< "", "src/", "tgt/" …
  HostArray ids, weights, paddings, segments;

  size_t count() const { return static_cast<size_t>(ids.shape()[0]); }
  TokenRow row(size_t r) const;
};

/// Every branch with tokens: fields `labels` or `ids` i32[b,t].
std::vector<TokenRows> token_rows(const HostTree& batch);

/// Text that may hold any bytes, on one line.
std::string visible(std::string_view text);
std::string escape_html(std::string_view text);

}  // namespace pax::data
