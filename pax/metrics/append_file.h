#pragma once

#include <atomic>
#include <exception>
#include <filesystem>
#include <mutex>
#include <string>
#include <thread>

#include "pax/base/queue.h"

namespace pax {

/// A file that grows by whole records, written by its own thread, so that the caller never waits for the disk (only for
/// a queue that is full). The first error is thrown by the next `append` and by `close`; it names path and reason.
class AppendFile {
 public:
  /// Opens for appending, and creates the file and its folders when missing.
  explicit AppendFile(const std::filesystem::path& path, size_t capacity = 4096);
  /// Writes what is queued. An error nobody was told of is logged.
  ~AppendFile();
  AppendFile(const AppendFile&) = delete;
  AppendFile& operator=(const AppendFile&) = delete;

  void append(std::string record);
  /// Writes what is queued, ends the thread and throws what went wrong. Further calls do nothing.
  void close();

 private:
  void run();
  void rethrow();

  std::filesystem::path path_;
  int fd_ = -1;
  BoundedQueue<std::string> queue_;
  std::atomic<bool> failed_ = false;
  std::mutex mutex_;
  std::exception_ptr error_;
  std::thread thread_;
};

}  // namespace pax
