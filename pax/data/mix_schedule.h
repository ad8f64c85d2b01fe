#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pax::data {

/// Which of several parts comes at a position, and how often it came before: a periodic schedule that is never further
/// than one from the exact shares.
class MixSchedule {
 public:
  /// Throws ConfigError unless there are rates, all finite, none negative, one above zero.
  explicit MixSchedule(std::vector<double> rates);
  struct Place {
    size_t part;
    int64_t index;  ///< the part's own position
  };
  Place at(int64_t position) const;
  /// Where the part's example `index` comes; the part's rate must be above zero.
  int64_t position_of(size_t part, int64_t index) const;
  /// How often the part comes in a period: zero for a share of less than one in ten thousand.
  int64_t count_in_period(size_t part) const { return count_of_part_[part]; }
  /// How often the part comes before `position`.
  int64_t count_before(int64_t position, size_t part) const;

 private:
  std::vector<uint32_t> part_of_;                        ///< of each position in a period
  std::vector<int64_t> index_of_;                        ///< within the period
  std::vector<int64_t> count_of_part_;                   ///< in a period
  std::vector<std::vector<int64_t>> positions_of_part_;  ///< in a period
};

/// A part's share by its number of examples (seqio.mixing_rate_num_examples): cut to `maximum`, to the power of
/// 1 / `temperature`.
double mixing_rate(double num_examples, double maximum, double temperature);

/// Parts that end: mixed by rate until the first is used up, then the rest by theirs, until all are. Parts of rate zero
/// are left out.
class FiniteMix {
 public:
  /// Throws ConfigError as MixSchedule does.
  FiniteMix(const std::vector<double>& rates, const std::vector<int64_t>& sizes);
  int64_t size() const { return size_; }
  MixSchedule::Place at(int64_t position) const;

 private:
  struct Phase {
    int64_t begin;               ///< first position
    std::vector<size_t> parts;   ///< that have not ended
    std::vector<int64_t> taken;  ///< of each of those, before
    MixSchedule schedule;
  };
  std::vector<Phase> phases_;
  int64_t size_ = 0;
};

}  // namespace pax::data
