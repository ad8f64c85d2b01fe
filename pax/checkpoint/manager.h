#pragma once

#include <condition_variable>
#include <exception>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "pax/base/files.h"
#include "pax/checkpoint/catalog.h"
#include "pax/checkpoint/disk.h"
#include "pax/checkpoint/write.h"
#include "pax/config/config.h"

namespace pax {

/// The checkpoints of a run: writes them on its own thread, keeps the ones that Pax's rules keep, and finds the one to
/// go on from. One process at a time; a second one is refused with the name of the first. What goes wrong while writing
/// is thrown by the next `save`, `check`, `wait` or `close`, and by each of them from then on.
class CheckpointManager {
 public:
  struct Config {
    int64_t save_interval_steps = 5000;
    int64_t save_max_to_keep = 10;
    std::string save_keep_interval_duration = "12h";
    std::string todelete_subdir;
    static void fields(auto& self, auto&& visit) {
      visit("save_interval_steps", self.save_interval_steps, {.doc = "Steps between checkpoints.", .min = 1});
      visit("save_max_to_keep", self.save_max_to_keep, "Newest checkpoints to keep; all of them when not positive.");
      visit("save_keep_interval_duration", self.save_keep_interval_duration,
            "Of the older ones, keep one in each such time (s, m, h, d); none when empty.");
      visit("todelete_subdir", self.todelete_subdir, "Move old checkpoints to this folder instead of removing them.");
    }
    void validate(config::Errors& errors) const;
  };

  /// Takes the lock of `job_log_dir`/checkpoints and clears what interrupted writes left there.
  CheckpointManager(const std::filesystem::path& job_log_dir, Config config,
                    std::shared_ptr<Disk> disk = std::make_shared<Disk>());
  /// Ends what is being written. An error nobody was told of is logged.
  ~CheckpointManager();
  CheckpointManager(const CheckpointManager&) = delete;
  CheckpointManager& operator=(const CheckpointManager&) = delete;

  /// Committed checkpoints, lowest step first.
  std::vector<CheckpointEntry> committed() const;
  std::optional<int64_t> latest_step() const;
  /// Whether a run at this step should save: there is nothing yet, or the interval is due and the step is not saved.
  bool should_save(int64_t step) const;
  /// Whether this step is committed, or being written.
  bool is_saved(int64_t step) const;

  /// Begins to write a checkpoint (the arrays must not change any more). Waits while an earlier one is being written.
  /// Replaces a checkpoint of the same step.
  void save(Checkpoint checkpoint);
  /// Throws what went wrong so far.
  void check();
  /// Returns when nothing is being written, or throws.
  void wait();
  /// `wait`, and ends the thread. Further calls only throw again what went wrong.
  void close();

  /// The newest committed checkpoint, verified; damaged ones are passed over with a warning. Nothing when the run has
  /// none. Throws RuntimeError when all are damaged, or when the arrays are not the `expected` ones (all differences
  /// named).
  std::optional<Checkpoint> restore_latest(const Tree<TensorType>& expected);
  /// The checkpoint of that step.
  Checkpoint restore(int64_t step, const Tree<TensorType>& expected) const;

  const std::filesystem::path& folder() const { return folder_; }

 private:
  void clear_leftovers();
  void run();
  void write(const Checkpoint& checkpoint);
  void remove_old();
  void remove(const std::filesystem::path& checkpoint);
  void wait_idle(std::unique_lock<std::mutex>& lock);

  const Config config_;
  const std::filesystem::path folder_;
  const std::shared_ptr<Disk> disk_;
  std::unique_ptr<FileLock> lock_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<int64_t, CheckpointEntry> committed_;
  std::vector<CheckpointEntry> damaged_;
  std::optional<Checkpoint> pending_;
  std::optional<int64_t> writing_;
  std::exception_ptr error_;
  bool closed_ = false;
  std::thread thread_;
};

}  // namespace pax
