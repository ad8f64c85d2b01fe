#include "pax/checkpoint/manager.h"

#include <malloc.h>

#include <chrono>
#include <csignal>
#include <utility>

#include "pax/base/error.h"
#include "pax/base/log.h"
#include "pax/base/text.h"
#include "pax/checkpoint/layout.h"
#include "pax/checkpoint/reader.h"
#include "pax/checkpoint/retention.h"

namespace pax {
namespace {

constexpr std::string_view kOtherModel =
    "train in another job_log_dir, or take part of it by init_from_checkpoint_rules";
constexpr double kLongWait = 1.0;  // seconds worth a warning

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

Checkpoint load(const CheckpointReader& reader) {
  return {.step = reader.step(), .state = reader.read_all(), .items = reader.items()};
}

}  // namespace

void CheckpointManager::Config::validate(config::Errors& errors) const {
  if (!save_keep_interval_duration.empty() && !parse_duration(save_keep_interval_duration)) {
    errors.add("save_keep_interval_duration",
               fmt::format("{} is not a duration; write \"12h\", \"90m\", \"30s\", \"7d\" or \"\"",
                           json_quote(save_keep_interval_duration)));
  }
  const bool one_name = todelete_subdir.find('/') == std::string::npos && todelete_subdir != "..";
  if (!one_name || step_of_checkpoint_name(todelete_subdir)) {
    errors.add("todelete_subdir", fmt::format("{} is not the name of a folder", json_quote(todelete_subdir)));
  }
}

CheckpointManager::CheckpointManager(const std::filesystem::path& job_log_dir, Config config,
                                     std::shared_ptr<Disk> disk)
    : config_(std::move(config)), folder_(job_log_dir / "checkpoints"), disk_(std::move(disk)) {
  disk_->make_folders(folder_);
  lock_ = std::make_unique<FileLock>(folder_ / ".lock", "the trainer of " + job_log_dir.string());
  clear_leftovers();
  for (CheckpointEntry& entry : list_checkpoints(folder_)) {
    if (entry.problem.empty()) {
      committed_.emplace(entry.step, std::move(entry));
    } else {
      log_warning("passing over checkpoint {}: {}", entry.step, entry.problem);
      damaged_.push_back(std::move(entry));
    }
  }
  thread_ = std::thread([this] { run(); });
}

CheckpointManager::~CheckpointManager() {
  const bool told = !thread_.joinable();
  try {
    close();
  } catch (const std::exception& error) {
    if (!told) log_line(LogLevel::kError, error.what());
  }
}

void CheckpointManager::clear_leftovers() {
  std::vector<std::filesystem::path> leftovers;
  for (const auto& item : std::filesystem::directory_iterator(folder_)) {
    if (is_temporary_name(item.path().filename().string())) leftovers.push_back(item.path());
  }
  for (const auto& path : leftovers) {
    log_info("removing what an interrupted write left: {}", path.string());
    disk_->remove(path);
  }
}

std::vector<CheckpointEntry> CheckpointManager::committed() const {
  const std::scoped_lock lock(mutex_);
  std::vector<CheckpointEntry> entries;
  for (const auto& [step, entry] : committed_) entries.push_back(entry);
  return entries;
}

std::optional<int64_t> CheckpointManager::latest_step() const {
  const std::scoped_lock lock(mutex_);
  return committed_.empty() ? std::nullopt : std::optional(committed_.rbegin()->first);
}

bool CheckpointManager::should_save(int64_t step) const {
  const std::scoped_lock lock(mutex_);
  if (committed_.empty() && !writing_ && !pending_) return true;
  const bool saved = committed_.contains(step) || writing_ == step || (pending_ && pending_->step == step);
  return step % config_.save_interval_steps == 0 && !saved;
}

bool CheckpointManager::is_saved(int64_t step) const {
  const std::scoped_lock lock(mutex_);
  return committed_.contains(step) || writing_ == step || (pending_ && pending_->step == step);
}

void CheckpointManager::save(Checkpoint checkpoint) {
  std::unique_lock lock(mutex_);
  if (closed_) fail<RuntimeError>("{}: save after close", folder_.string());
  const auto begin = std::chrono::steady_clock::now();
  wait_idle(lock);
  if (const double waited = seconds_since(begin); waited > kLongWait) {
    log_warning(
        "step {} waited {:.1f} s until the checkpoint before was written: the disk is slower than "
        "save_interval_steps asks for",
        checkpoint.step, waited);
  }
  pending_ = std::move(checkpoint);
  changed_.notify_all();
}

void CheckpointManager::check() {
  const std::scoped_lock lock(mutex_);
  if (error_) std::rethrow_exception(error_);
}

void CheckpointManager::wait() {
  std::unique_lock lock(mutex_);
  wait_idle(lock);
}

void CheckpointManager::wait_idle(std::unique_lock<std::mutex>& lock) {
  changed_.wait(lock, [&] { return !pending_ && !writing_; });
  if (error_) std::rethrow_exception(error_);
}

void CheckpointManager::close() {
  {
    const std::scoped_lock lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
  lock_.reset();
  check();
}

void CheckpointManager::run() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return pending_ || closed_; });
    if (!pending_) return;
    std::optional<Checkpoint> checkpoint = std::exchange(pending_, std::nullopt);
    writing_ = checkpoint->step;
    lock.unlock();
    std::exception_ptr error;
    try {
      write(*checkpoint);
    } catch (...) {
      error = std::current_exception();
    }
    checkpoint.reset();
    ::malloc_trim(0);  // the snapshot's memory, which the heap would else keep in pieces
    lock.lock();
    writing_.reset();
    if (error) error_ = error;
    changed_.notify_all();
  }
}

void CheckpointManager::write(const Checkpoint& checkpoint) {
  const auto begin = std::chrono::steady_clock::now();
  write_checkpoint(*disk_, folder_, checkpoint);
  const std::vector<CheckpointEntry> now_there = list_checkpoints(folder_);
  uint64_t bytes = 0;
  {
    const std::scoped_lock lock(mutex_);
    for (const CheckpointEntry& entry : now_there) {
      if (entry.step != checkpoint.step) continue;
      bytes = entry.bytes;
      committed_[entry.step] = entry;
    }
    std::erase_if(damaged_, [&](const CheckpointEntry& entry) { return entry.step == checkpoint.step; });
  }
  log_info("saved checkpoint {} ({} in {:.2f} s): {}", checkpoint.step, human_bytes(bytes), seconds_since(begin),
           (folder_ / checkpoint_name(checkpoint.step)).string());
  remove_old();
}

void CheckpointManager::remove_old() {
  std::vector<std::filesystem::path> doomed;
  {
    const std::scoped_lock lock(mutex_);
    std::vector<CheckpointEntry> entries;
    for (const auto& [step, entry] : committed_) entries.push_back(entry);
    const auto interval = parse_duration(config_.save_keep_interval_duration);
    for (const int64_t step : steps_to_remove(entries, config_.save_max_to_keep, interval)) {
      doomed.push_back(committed_.at(step).path);
      committed_.erase(step);
    }
    // Damaged ones of ours go once a good one stands in their place.
    std::erase_if(damaged_, [&](const CheckpointEntry& entry) {
      const bool ours = std::filesystem::exists(entry.path / kChecksumsFile);
      const bool superseded = ours && entry.step < committed_.rbegin()->first;
      if (superseded) doomed.push_back(entry.path);
      return superseded;
    });
  }
  for (const auto& path : doomed) remove(path);
}

void CheckpointManager::remove(const std::filesystem::path& checkpoint) {
  const std::string name = checkpoint.filename().string();
  if (!config_.todelete_subdir.empty()) {
    disk_->make_folders(folder_ / config_.todelete_subdir);
    disk_->remove(folder_ / config_.todelete_subdir / name);
    disk_->move(checkpoint, folder_ / config_.todelete_subdir / name);
    return;
  }
  // Renamed first, so that a crash leaves no half a checkpoint under a good name.
  const std::filesystem::path leaving = folder_ / fmt::format("{}{}removed", name, kTemporaryInfix);
  disk_->remove(leaving);
  disk_->move(checkpoint, leaving);
  disk_->flush_folder(folder_);
  disk_->remove(leaving);
}

std::optional<Checkpoint> CheckpointManager::restore_latest(const Tree<TensorType>& expected) {
  const std::vector<CheckpointEntry> entries = committed();
  for (size_t i = entries.size(); i-- > 0;) {
    std::optional<CheckpointReader> reader;
    std::string problem;
    try {
      reader.emplace(entries[i].path);
    } catch (const RuntimeError& error) {
      problem = error.what();
    }
    if (reader) require_same_types(entries[i].path.string(), reader->types(), expected, kOtherModel);
    try {
      if (reader) return load(*reader);
    } catch (const RuntimeError& error) {
      problem = error.what();
    }
    if (i == 0) fail<RuntimeError>("{}; no other checkpoint is left: move the folder away to start anew", problem);
    log_warning("checkpoint {} cannot be used ({}); going back to the one before", entries[i].step, problem);
    const std::scoped_lock lock(mutex_);
    committed_.erase(entries[i].step);
    damaged_.push_back(entries[i]);
  }
  return std::nullopt;
}

Checkpoint CheckpointManager::restore(int64_t step, const Tree<TensorType>& expected) const {
  const std::vector<CheckpointEntry> entries = committed();
  for (const CheckpointEntry& entry : entries) {
    if (entry.step != step) continue;
    const CheckpointReader reader(entry.path);
    require_same_types(entry.path.string(), reader.types(), expected, kOtherModel);
    return load(reader);
  }
  std::vector<int64_t> steps;
  for (const CheckpointEntry& entry : entries) steps.push_back(entry.step);
  fail<RuntimeError>("{}: has no checkpoint of step {}; there are [{}]", folder_.string(), step, join(steps, ", "));
}

}  // namespace pax
