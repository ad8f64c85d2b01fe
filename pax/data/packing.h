#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "pax/data/example.h"
#include "pax/data/task.h"

namespace pax::data {

/// One row on its way to a batch: ids of each feature, all of its length, and where packed, of each feature `f` also
/// `f_segment_ids` (from 1, 0 = padding) and `f_positions` (from 0 in each segment).
using IntRow = std::map<std::string, std::vector<int32_t>, std::less<>>;

/// How examples share rows.
enum class Packing {
  kNone,      ///< one example a row
  kNextFit,   ///< as SeqIO: into the open row, or close it; every `window` examples the open row is closed too
  kFirstFit,  ///< into the first of several open rows that has room; when none has, all are closed
};
std::span<const std::pair<Packing, std::string_view>> enum_names(Packing);

/// Builds rows of one stream. A generation is what must be built together: its rows depend on nothing before it.
class Packer {
 public:
  /// `bins`: open rows of kFirstFit.
  Packer(FeatureLengths lengths, Packing packing, int64_t bins);

  /// Adds an example (features beyond the lengths are left out, each is cut to its length). False, and nothing added,
  /// when the generation is complete without it.
  bool add(const IntRow& example);

  /// The rows of the generation, padded; begins the next. kNextFit gives one row, kFirstFit up to `bins`.
  std::vector<IntRow> flush();

  /// Examples since the last window of kNextFit began; part of a saved position.
  int64_t in_window() const { return in_window_; }
  void set_in_window(int64_t count) { in_window_ = count; }

 private:
  struct Bin {
    IntRow row;
    int32_t segments = 0;
  };
  bool fits(const Bin& bin, const IntRow& example) const;
  void append(Bin& bin, const IntRow& example);
  IntRow finish(Bin bin) const;

  FeatureLengths lengths_;
  Packing packing_;
  size_t max_bins_;
  int64_t window_;
  int64_t in_window_ = 0;
  bool closed_ = false;
  std::vector<Bin> bins_;
};

}  // namespace pax::data
