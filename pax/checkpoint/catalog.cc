#include "pax/checkpoint/catalog.h"

#include <algorithm>
#include <chrono>

#include "pax/base/error.h"
#include "pax/base/files.h"
#include "pax/base/hash.h"
#include "pax/checkpoint/layout.h"

namespace pax {
namespace {

constexpr std::string_view kCheckpointsFolder = "checkpoints";

double modification_time(const std::filesystem::path& path) {
  std::error_code failure;
  const auto time = std::filesystem::last_write_time(path, failure);
  if (failure) return 0;
  return std::chrono::duration<double>(std::chrono::file_clock::to_sys(time).time_since_epoch()).count();
}

bool holds_arrays(const std::filesystem::path& folder) {
  if (std::filesystem::exists(folder / "_METADATA") || std::filesystem::exists(folder / "manifest.ocdbt")) return true;
  std::error_code failure;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failure)) {
    if (std::filesystem::exists(entry.path() / ".zarray") || std::filesystem::exists(entry.path() / "zarr.json")) {
      return true;
    }
  }
  return false;
}

CheckpointEntry examine(const std::filesystem::path& path, int64_t step) {
  CheckpointEntry entry{.step = step, .path = path};
  try {
    if (!std::filesystem::exists(path / kChecksumsFile)) {
      find_array_folder(path);
      entry.commit_time = modification_time(path);
      return entry;
    }
    const auto checksums = read_committed(path);
    entry.commit_time = checksums->commit_time;
    for (const auto& [name, file] : checksums->files) entry.bytes += file.bytes;
  } catch (const RuntimeError& error) {
    entry.problem = error.what();
  }
  return entry;
}

}  // namespace

std::vector<CheckpointEntry> list_checkpoints(const std::filesystem::path& folder) {
  std::vector<CheckpointEntry> entries;
  std::error_code failure;
  for (const auto& item : std::filesystem::directory_iterator(folder, failure)) {
    const std::optional<int64_t> step = step_of_checkpoint_name(item.path().filename().string());
    if (step && item.is_directory()) entries.push_back(examine(item.path(), *step));
  }
  if (failure && failure != std::errc::no_such_file_or_directory) {
    fail<RuntimeError>("{}: cannot list the folder: {}", folder.string(), failure.message());
  }
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.step < b.step; });
  return entries;
}

std::filesystem::path find_checkpoint(const std::filesystem::path& path, std::optional<int64_t> step) {
  if (!std::filesystem::is_directory(path)) fail<RuntimeError>("{}: no such folder", path.string());
  for (const auto& folder : {path / kCheckpointsFolder, path}) {
    const std::vector<CheckpointEntry> entries = list_checkpoints(folder);
    for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
      if (step ? entry->step == *step : entry->problem.empty()) return entry->path;
    }
    if (step && !entries.empty()) fail<RuntimeError>("{}: has no checkpoint of step {}", folder.string(), *step);
    if (!entries.empty()) fail<RuntimeError>("{}", entries.back().problem);
  }
  if (!std::filesystem::exists(path / kChecksumsFile)) find_array_folder(path);
  return path;
}

std::shared_ptr<const Checksums> read_committed(const std::filesystem::path& path) {
  const std::string text = read_file(path / kChecksumsFile);
  if (!std::filesystem::exists(path / kCommitMarker)) {
    fail<RuntimeError>("{}: was never committed: {} is missing", path.string(), kCommitMarker);
  }
  const std::string expected =
      fmt::format("{} {:08x}\n", kChecksumsFile, crc32c(std::as_bytes(std::span<const char>(text))));
  if (read_file(path / kCommitMarker) != expected) {
    fail<RuntimeError>("{}: damaged: {} does not fit {}", path.string(), kChecksumsFile, kCommitMarker);
  }
  return std::make_shared<Checksums>(parse_checksums((path / kChecksumsFile).string(), text));
}

std::filesystem::path find_array_folder(const std::filesystem::path& path) {
  for (const auto& folder : {path, path / kStateItem, path / "items", path / "default"}) {
    if (holds_arrays(folder)) return folder;
  }
  fail<RuntimeError>("{}: is not a checkpoint: no {} and no arrays in it", path.string(), kChecksumsFile);
}

}  // namespace pax
