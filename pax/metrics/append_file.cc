#include "pax/metrics/append_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "pax/base/error.h"
#include "pax/base/log.h"

namespace pax {
namespace {

int open_for_append(const std::filesystem::path& path) {
  std::error_code failure;
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), failure);
  const int fd = failure ? -1 : ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (fd < 0) {
    fail<RuntimeError>("{}: cannot open for writing: {}", path.string(),
                       failure ? failure.message() : std::strerror(errno));
  }
  return fd;
}

void write_all(int fd, std::string_view bytes, const std::filesystem::path& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail<RuntimeError>("{}: cannot write: {}", path.string(), std::strerror(errno));
    bytes.remove_prefix(static_cast<size_t>(written));
  }
}

}  // namespace

AppendFile::AppendFile(const std::filesystem::path& path, size_t capacity)
    : path_(path), fd_(open_for_append(path)), queue_(capacity), thread_([this] { run(); }) {}

AppendFile::~AppendFile() {
  try {
    close();
  } catch (const std::exception& error) {
    log_line(LogLevel::kError, error.what());
  }
}

void AppendFile::append(std::string record) {
  if (failed_) rethrow();
  queue_.push(std::move(record));
}

void AppendFile::close() {
  if (!thread_.joinable()) return;
  queue_.close();
  thread_.join();
  ::close(fd_);
  if (failed_) rethrow();
}

void AppendFile::run() {
  // Signals belong to the main thread; a file-size limit shows as EFBIG rather than as a signal that kills.
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  while (const std::optional<std::string> record = queue_.pop()) {
    if (failed_) continue;
    try {
      write_all(fd_, *record, path_);
    } catch (...) {
      const std::scoped_lock lock(mutex_);
      error_ = std::current_exception();
      failed_ = true;
    }
  }
}

void AppendFile::rethrow() {
  const std::scoped_lock lock(mutex_);
  std::rethrow_exception(error_);
}

}  // namespace pax
