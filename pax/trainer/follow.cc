#include "pax/trainer/follow.h"

#include <chrono>
#include <thread>

#include "pax/checkpoint/catalog.h"
#include "pax/checkpoint/reader.h"

namespace pax {
namespace {

using Clock = std::chrono::steady_clock;

/// The newest committed step; nothing when there is none (yet).
std::optional<int64_t> newest_step(const std::filesystem::path& job_log_dir) {
  const std::filesystem::path inside = job_log_dir / "checkpoints";
  if (!std::filesystem::is_directory(inside)) return std::nullopt;
  std::optional<int64_t> newest;
  for (const CheckpointEntry& entry : list_checkpoints(inside)) {
    if (entry.problem.empty()) newest = entry.step;
  }
  return newest;
}

}  // namespace

int64_t follow_checkpoints(const std::filesystem::path& job_log_dir, const FollowOptions& options,
                           const std::function<bool()>& stop_requested, const std::function<void(int64_t)>& visit) {
  if (options.step || !options.follow) {
    visit(CheckpointReader(find_checkpoint(job_log_dir, options.step)).step());
    return 1;
  }
  int64_t visited = 0, last = -1;
  Clock::time_point since = Clock::now();
  while (!stop_requested()) {
    const std::optional<int64_t> newest = newest_step(job_log_dir);
    if (newest && *newest > last) {
      last = *newest;
      visit(last);
      ++visited;
      if (last >= options.last_step) break;
      since = Clock::now();
      continue;
    }
    const double waited = std::chrono::duration<double>(Clock::now() - since).count();
    if (options.wait_seconds > 0 && waited > options.wait_seconds) break;
    std::this_thread::sleep_for(std::chrono::duration<double>(options.poll_seconds));
  }
  return visited;
}

}  // namespace pax
