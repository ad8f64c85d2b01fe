#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace pax {

/// An open file that closes itself.
class OpenFile {
 public:
  OpenFile(std::filesystem::path path, int fd) : path_(std::move(path)), fd_(fd) {}
  ~OpenFile();
  OpenFile(OpenFile&& other) noexcept;
  OpenFile& operator=(OpenFile&&) = delete;

  const std::filesystem::path& path() const { return path_; }
  int fd() const { return fd_; }

 private:
  std::filesystem::path path_;
  int fd_;
};

/// Everything that saving a checkpoint does to the file system, so that tests can put a failure in place of any call.
/// All calls throw RuntimeError with path and reason; all are safe from several threads.
class Disk {
 public:
  virtual ~Disk() = default;

  /// Makes the folder and those above it.
  virtual void make_folders(const std::filesystem::path& path);
  /// A new, empty file.
  virtual OpenFile create(const std::filesystem::path& path);
  /// Writes all bytes at `offset`, and starts moving them to the disk when they are many.
  virtual void write(const OpenFile& file, std::span<const std::byte> bytes, size_t offset);
  /// Returns when the file is on the disk.
  virtual void flush(const OpenFile& file);
  /// Returns when the names in the folder are on the disk.
  virtual void flush_folder(const std::filesystem::path& path);
  /// Gives `from` the name `to`, which must be free.
  virtual void move(const std::filesystem::path& from, const std::filesystem::path& to);
  /// Exchanges two names in one step, where the file system can; else moves `second` away to `spare` first.
  virtual void exchange(const std::filesystem::path& first, const std::filesystem::path& second,
                        const std::filesystem::path& spare);
  /// Removes a file, or a folder with all it holds; fine when there is none.
  virtual void remove(const std::filesystem::path& path);
};

}  // namespace pax
