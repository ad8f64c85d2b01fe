#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace pax {

/// The whole file. Throws RuntimeError naming path and reason.
std::string read_file(const std::filesystem::path& path);

/// Writes beside `path`, fsyncs, renames over it and fsyncs the folder: readers see the old file or the new one.
void write_file_atomically(const std::filesystem::path& path, std::string_view contents);
/// The same for contents in several pieces, one after the other.
void write_file_atomically(const std::filesystem::path& path, std::span<const std::string_view> pieces);

/// Flushes a folder's entries to disk, after a rename into it.
void sync_directory(const std::filesystem::path& directory);

/// A read-only memory map of a whole file; empty files map to an empty span.
class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&&) = delete;

  std::span<const std::byte> bytes() const { return {data_, size_}; }
  std::string_view text() const { return {reinterpret_cast<const char*>(data_), size_}; }

 private:
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
};

/// Holds an exclusive advisory lock on `path` while it lives. If another process has it, throws RuntimeError naming
/// that process (its id and what it wrote as `owner`).
class FileLock {
 public:
  FileLock(const std::filesystem::path& path, std::string_view owner);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  int fd_;
};

/// A fresh folder under the system's temporary folder, removed with all it holds at the end of its life.
class TempDirectory {
 public:
  TempDirectory();
  ~TempDirectory();
  TempDirectory(const TempDirectory&) = delete;
  TempDirectory& operator=(const TempDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace pax
