#include "pax/data/mix_schedule.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "pax/base/error.h"

namespace pax::data {

MixSchedule::MixSchedule(std::vector<double> rates) {
  double total = 0;
  for (const double rate : rates) {
    if (!std::isfinite(rate) || rate < 0) fail<ConfigError>("mixing rate {} is not a finite number above zero", rate);
    total += rate;
  }
  if (total <= 0) fail<ConfigError>("mixing rates: all of {} are zero", rates.size());
  // Whole numbers with these shares, the remainder to those that lost most by rounding down.
  constexpr int64_t kPeriod = 10080;  // divisible by all numbers to 10
  std::vector<std::pair<double, size_t>> lost;
  int64_t left = kPeriod;
  for (size_t i = 0; i < rates.size(); ++i) {
    const double share = rates[i] / total * kPeriod;
    count_of_part_.push_back(static_cast<int64_t>(share));
    left -= count_of_part_.back();
    lost.emplace_back(static_cast<double>(count_of_part_.back()) - share, i);
  }
  std::ranges::sort(lost);
  for (int64_t i = 0; i < left; ++i) ++count_of_part_[lost[static_cast<size_t>(i) % lost.size()].second];
  positions_of_part_.resize(rates.size());
  // At each place the part whose next example is due first: the i-th of c is due by (i + 1) / c of the period.
  std::vector<int64_t> given(rates.size());
  for (int64_t position = 0; position < kPeriod; ++position) {
    size_t best = 0;
    double best_due = INFINITY;
    for (size_t i = 0; i < rates.size(); ++i) {
      if (given[i] == count_of_part_[i]) continue;
      // Released when its share has come up, so that nobody runs ahead.
      const auto count = static_cast<double>(count_of_part_[i]);
      if (static_cast<double>(given[i]) / count * kPeriod > static_cast<double>(position)) continue;
      const double due = static_cast<double>(given[i] + 1) / count;
      if (due < best_due) {
        best_due = due;
        best = i;
      }
    }
    positions_of_part_[best].push_back(position);
    part_of_.push_back(static_cast<uint32_t>(best));
    index_of_.push_back(given[best]++);
  }
}

MixSchedule::Place MixSchedule::at(int64_t position) const {
  const auto period = static_cast<int64_t>(part_of_.size());
  const auto within = static_cast<size_t>(position % period);
  const size_t part = part_of_[within];
  return {part, position / period * count_of_part_[part] + index_of_[within]};
}

int64_t MixSchedule::position_of(size_t part, int64_t index) const {
  const int64_t count = count_of_part_[part];
  return index / count * static_cast<int64_t>(part_of_.size()) +
         positions_of_part_[part][static_cast<size_t>(index % count)];
}

int64_t MixSchedule::count_before(int64_t position, size_t part) const {
  const auto period = static_cast<int64_t>(part_of_.size());
  const std::vector<int64_t>& places = positions_of_part_[part];
  const auto within = std::ranges::lower_bound(places, position % period) - places.begin();
  return position / period * count_of_part_[part] + within;
}

double mixing_rate(double num_examples, double maximum, double temperature) {
  return std::pow(std::min(num_examples, maximum), 1.0 / temperature);
}

FiniteMix::FiniteMix(const std::vector<double>& rates, const std::vector<int64_t>& sizes) {
  std::vector<size_t> parts;
  std::vector<int64_t> left, taken;
  for (size_t i = 0; i < rates.size(); ++i) {
    if (rates[i] == 0 || sizes[i] == 0) continue;
    parts.push_back(i);
    left.push_back(sizes[i]);
    taken.push_back(0);
    size_ += sizes[i];
  }
  for (int64_t begin = 0; !parts.empty();) {
    std::vector<double> shares;
    for (const size_t part : parts) shares.push_back(rates[part]);
    phases_.push_back({begin, parts, taken, MixSchedule(std::move(shares))});
    const MixSchedule& schedule = phases_.back().schedule;
    // A share too small to come in a period waits until the others have ended.
    int64_t length = -1;
    for (size_t i = 0; i < parts.size(); ++i) {
      if (schedule.count_in_period(i) == 0) continue;
      const int64_t end = schedule.position_of(i, left[i] - 1) + 1;
      if (length < 0 || end < length) length = end;
    }
    std::vector<size_t> parts_after;
    std::vector<int64_t> left_after, taken_after;
    for (size_t i = 0; i < parts.size(); ++i) {
      const int64_t count = schedule.count_before(length, i);
      if (left[i] == count) continue;
      parts_after.push_back(parts[i]);
      left_after.push_back(left[i] - count);
      taken_after.push_back(taken[i] + count);
    }
    parts = std::move(parts_after);
    left = std::move(left_after);
    taken = std::move(taken_after);
    begin += length;
  }
}

MixSchedule::Place FiniteMix::at(int64_t position) const {
  const auto after = std::ranges::upper_bound(phases_, position, {}, &Phase::begin);
  const Phase& phase = *std::prev(after);
  const MixSchedule::Place place = phase.schedule.at(position - phase.begin);
  return {phase.parts[place.part], phase.taken[place.part] + place.index};
}

}  // namespace pax::data
