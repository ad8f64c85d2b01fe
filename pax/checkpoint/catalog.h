#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pax/checkpoint/checksums.h"

namespace pax {

/// A folder that has the name of a checkpoint.
struct CheckpointEntry {
  int64_t step = 0;
  std::filesystem::path path;
  double commit_time = 0;  ///< seconds since 1970
  uint64_t bytes = 0;      ///< on disk; 0 for checkpoints that we did not write
  std::string problem;     ///< why it must not be used; empty when it is committed
};

/// Every checkpoint_%08d below `folder`, lowest step first; what has other names is passed over. No array is read.
std::vector<CheckpointEntry> list_checkpoints(const std::filesystem::path& folder);

/// The folder of the checkpoint that a user means by `path` (a checkpoint, a `checkpoints` folder or a job_log_dir) and
/// `step` (the newest committed one when not given). Throws RuntimeError when there is none.
std::filesystem::path find_checkpoint(const std::filesystem::path& path, std::optional<int64_t> step = std::nullopt);

/// Checks the commit marker of a checkpoint of ours and returns the checksums that it vouches for. Throws RuntimeError.
std::shared_ptr<const Checksums> read_committed(const std::filesystem::path& path);

/// Where a checkpoint that is not ours keeps its arrays. Throws RuntimeError when it is no checkpoint.
std::filesystem::path find_array_folder(const std::filesystem::path& path);

}  // namespace pax
