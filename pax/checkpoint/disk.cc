#include "pax/checkpoint/disk.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "pax/base/error.h"
#include "pax/base/files.h"

namespace pax {
namespace {

/// Fewer bytes than this wait for flush(): starting them early costs more than it saves.
constexpr size_t kWorthAHint = size_t{1} << 20;

[[noreturn]] void fail_errno(std::string_view what, const std::filesystem::path& path) {
  const int code = errno;
  fail<RuntimeError>("{}: cannot {}: {}", path.string(), what, std::strerror(code));
}

}  // namespace

OpenFile::~OpenFile() {
  if (fd_ >= 0) ::close(fd_);
}

OpenFile::OpenFile(OpenFile&& other) noexcept : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)) {}

void Disk::make_folders(const std::filesystem::path& path) {
  std::error_code failure;
  std::filesystem::create_directories(path, failure);
  if (failure) fail<RuntimeError>("{}: cannot make the folder: {}", path.string(), failure.message());
}

OpenFile Disk::create(const std::filesystem::path& path) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (fd < 0) fail_errno("create", path);
  return {path, fd};
}

void Disk::write(const OpenFile& file, std::span<const std::byte> bytes, size_t offset) {
  const size_t begin = offset;
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(file.fd(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail_errno("write", file.path());
    bytes = bytes.subspan(static_cast<size_t>(written));
    offset += static_cast<size_t>(written);
  }
  if (offset - begin < kWorthAHint) return;
  // A hint: what it does not do, flush() will.
  ::sync_file_range(file.fd(), static_cast<off_t>(begin), static_cast<off_t>(offset - begin), SYNC_FILE_RANGE_WRITE);
}

void Disk::flush(const OpenFile& file) {
  if (::fsync(file.fd()) != 0) fail_errno("flush", file.path());
}

void Disk::flush_folder(const std::filesystem::path& path) { sync_directory(path); }

void Disk::move(const std::filesystem::path& from, const std::filesystem::path& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) fail_errno("rename to " + to.filename().string(), from);
}

void Disk::exchange(const std::filesystem::path& first, const std::filesystem::path& second,
                    const std::filesystem::path& spare) {
  if (::renameat2(AT_FDCWD, first.c_str(), AT_FDCWD, second.c_str(), RENAME_EXCHANGE) == 0) return;
  if (errno != EINVAL && errno != ENOSYS) fail_errno("exchange with " + second.filename().string(), first);
  move(second, spare);
  move(first, second);
  move(spare, first);
}

void Disk::remove(const std::filesystem::path& path) {
  std::error_code failure;
  std::filesystem::remove_all(path, failure);
  if (failure) fail<RuntimeError>("{}: cannot remove: {}", path.string(), failure.message());
}

}  // namespace pax
