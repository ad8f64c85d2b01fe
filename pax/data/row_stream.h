#pragma once

#include <deque>
#include <memory>
#include <optional>

#include "pax/data/feature_converter.h"
#include "pax/data/packing.h"
#include "pax/data/task.h"

namespace pax::data {

/// Where a RowStream stands: a few numbers, whatever is open.
struct StreamPosition {
  int64_t record = 0;     ///< the stream's own count of positions of the set
  int64_t example = 0;    ///< of those that the record became
  int64_t row = 0;        ///< rows taken of the generation that begins there
  int64_t in_window = 0;  ///< examples since SeqIO's packing window began
  bool operator==(const StreamPosition&) const = default;
};

/// What all streams of an input share.
struct StreamShared {
  std::shared_ptr<const ExampleSet> examples;
  std::shared_ptr<const FeatureConverter> converter;
  FeatureLengths row_lengths;
  Packing packing = Packing::kNone;
  int64_t bins = 1;
  int64_t num_streams = 1;
};

/// The rows of every `num_streams`-th position of a set, beginning at `index`: streams share nothing, so any thread and
/// any host may run any of them.
class RowStream {
 public:
  RowStream(std::shared_ptr<const StreamShared> shared, int64_t index);

  /// The next row, or nothing at the end.
  std::optional<IntRow> next();

  StreamPosition position() const;
  void seek(const StreamPosition& position);

 private:
  const IntRow* peek();
  void build_generation();

  std::shared_ptr<const StreamShared> shared_;
  int64_t index_;
  Packer packer_;
  StreamPosition cursor_;  ///< of the next example; `row` is not used
  std::vector<Example> made_;
  int64_t made_of_ = -1;  ///< the record that `made_` comes from
  std::optional<IntRow> prepared_;
  StreamPosition start_;  ///< of the generation in `rows_`
  std::deque<IntRow> rows_;
};

}  // namespace pax::data
