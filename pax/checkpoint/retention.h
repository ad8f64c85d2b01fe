#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "pax/checkpoint/catalog.h"

namespace pax {

/// "12h" as 43200 seconds; units s, m, h, d. Nothing for any other text.
std::optional<double> parse_duration(std::string_view text);

/// Steps of the committed checkpoints that may go, Pax's rule: the newest `max_to_keep` stay (all, when not positive);
/// with an interval, also the oldest one and each that is at least `keep_interval_s` later than the one kept before it.
std::vector<int64_t> steps_to_remove(std::span<const CheckpointEntry> committed, int64_t max_to_keep,
                                     std::optional<double> keep_interval_s);

}  // namespace pax
