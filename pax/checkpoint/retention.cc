#include "pax/checkpoint/retention.h"

#include <charconv>

namespace pax {

std::optional<double> parse_duration(std::string_view text) {
  if (text.empty()) return std::nullopt;
  double unit = 0;
  switch (text.back()) {
    case 's':
      unit = 1;
      break;
    case 'm':
      unit = 60;
      break;
    case 'h':
      unit = 3600;
      break;
    case 'd':
      unit = 86400;
      break;
    default:
      return std::nullopt;
  }
  text.remove_suffix(1);
  double count = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), count);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || !(count >= 0)) return std::nullopt;
  return count * unit;
}

std::vector<int64_t> steps_to_remove(std::span<const CheckpointEntry> committed, int64_t max_to_keep,
                                     std::optional<double> keep_interval_s) {
  std::vector<int64_t> steps;
  if (max_to_keep <= 0 || committed.size() <= static_cast<size_t>(max_to_keep)) return steps;
  std::optional<double> last_kept;
  for (const CheckpointEntry& entry : committed.first(committed.size() - static_cast<size_t>(max_to_keep))) {
    if (keep_interval_s && (!last_kept || entry.commit_time >= *last_kept + *keep_interval_s)) {
      last_kept = entry.commit_time;
    } else {
      steps.push_back(entry.step);
    }
  }
  return steps;
}

}  // namespace pax
