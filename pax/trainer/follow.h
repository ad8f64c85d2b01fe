#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>

namespace pax {

/// Which checkpoints of a run are visited.
struct FollowOptions {
  std::optional<int64_t> step;  ///< only this one
  bool follow = false;          ///< after the newest, every newer one that appears, until `last_step` was visited
  double wait_seconds = 0;      ///< when following: give up after so long without a new one; 0: never
  double poll_seconds = 1;
  int64_t last_step = 0;
};

/// Calls `visit` with the step of each checkpoint of `job_log_dir` that `options` asks for, newest at that moment
/// first. Waits only when following, also for the first. Returns how many were visited; ends early when
/// `stop_requested`. Throws RuntimeError when there is none and none is waited for.
int64_t follow_checkpoints(const std::filesystem::path& job_log_dir, const FollowOptions& options,
                           const std::function<bool()>& stop_requested, const std::function<void(int64_t)>& visit);

}  // namespace pax
