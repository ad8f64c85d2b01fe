#pragma once

#include "pax/data/dataset_identity.h"
#include "pax/data/input.h"
#include "pax/data/permutation.h"

namespace pax::data {

/// How an IndexedInput walks over its records.
struct Walk {
  int64_t num_records = 0;
  DatasetIdentity identity;
  EpochOrder::Mode mode = EpochOrder::Mode::kSequential;
  std::optional<int64_t> epochs = 1;  ///< nothing: repeat for ever
  bool drop_remainder = false;        ///< false: the last batch is padded with rows of zero weight
};

/// An input where each row of a batch is one record: global row r is record `order(r)`, whatever the number of hosts.
/// The position is one number, the count of global rows taken, so a run continues exactly on other host counts.
class IndexedInput : public Input {
 public:
  static constexpr int64_t kPadding = -1;

  std::optional<int64_t> num_batches() const override;

 protected:
  /// Throws RuntimeError when there are no records.
  IndexedInput(const InputConfig& config, Walk walk);

  /// The batch of these records; kPadding stands for a row of padding.
  virtual HostTree make_batch(std::span<const int64_t> records) = 0;

  std::optional<HostTree> produce() final;
  void rewind() override { rows_taken_ = 0; }
  std::string save_position() const override;
  void restore_position(std::span<const std::string> states) override;

 private:
  int64_t total_rows() const { return walk_.num_records * walk_.epochs.value_or(1); }

  Walk walk_;
  EpochOrder order_;
  int64_t rows_taken_ = 0;
};

/// Throws RuntimeError naming both data sets, or warns and returns false when `policy` says to restart.
bool same_dataset(const DatasetIdentity& saved, const DatasetIdentity& present, OnChange policy,
                  const std::string& input);

}  // namespace pax::data
