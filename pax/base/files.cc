#include "pax/base/files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "pax/base/error.h"

namespace pax {
namespace {

[[noreturn]] void fail_errno(std::string_view what, const std::filesystem::path& path) {
  const int code = errno;
  fail<RuntimeError>("{}: cannot {}: {}", path.string(), what, std::strerror(code));
}

/// A file descriptor that closes itself.
class Descriptor {
 public:
  Descriptor(const std::filesystem::path& path, int flags, std::string_view what)
      : fd_(::open(path.c_str(), flags | O_CLOEXEC, 0644)) {
    if (fd_ < 0) fail_errno(what, path);
  }
  ~Descriptor() { ::close(fd_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

void write_all(int fd, std::string_view contents, const std::filesystem::path& path) {
  while (!contents.empty()) {
    const ssize_t written = ::write(fd, contents.data(), contents.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail_errno("write", path);
    contents.remove_prefix(static_cast<size_t>(written));
  }
}

}  // namespace

std::string read_file(const std::filesystem::path& path) {
  const Descriptor file(path, O_RDONLY, "open");
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) fail_errno("stat", path);
  if (S_ISDIR(info.st_mode)) fail<RuntimeError>("{}: is a folder, not a file", path.string());
  std::string contents;
  char buffer[1 << 16];
  while (true) {
    const ssize_t got = ::read(file.get(), buffer, sizeof(buffer));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_errno("read", path);
    if (got == 0) return contents;
    contents.append(buffer, static_cast<size_t>(got));
  }
}

void sync_directory(const std::filesystem::path& directory) {
  const Descriptor folder(directory, O_RDONLY | O_DIRECTORY, "open folder");
  if (::fsync(folder.get()) != 0) fail_errno("flush folder", directory);
}

void write_file_atomically(const std::filesystem::path& path, std::string_view contents) {
  write_file_atomically(path, std::span(&contents, 1));
}

void write_file_atomically(const std::filesystem::path& path, std::span<const std::string_view> pieces) {
  std::filesystem::path temporary = path;
  temporary += ".tmp";
  try {
    const Descriptor file(temporary, O_WRONLY | O_CREAT | O_TRUNC, "create");
    for (const std::string_view piece : pieces) write_all(file.get(), piece, temporary);
    if (::fsync(file.get()) != 0) fail_errno("flush", temporary);
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) fail_errno("rename to its final name", temporary);
  sync_directory(path.has_parent_path() ? path.parent_path() : ".");
}

MappedFile::MappedFile(const std::filesystem::path& path) {
  const Descriptor file(path, O_RDONLY, "open");
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) fail_errno("stat", path);
  if (!S_ISREG(info.st_mode)) fail<RuntimeError>("{}: is not a regular file", path.string());
  size_ = static_cast<size_t>(info.st_size);
  if (size_ == 0) return;
  void* mapped = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (mapped == MAP_FAILED) fail_errno("map", path);
  data_ = static_cast<const std::byte*>(mapped);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

FileLock::FileLock(const std::filesystem::path& path, std::string_view owner)
    : fd_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {
  if (fd_ < 0) fail_errno("open the lock", path);
  if (::flock(fd_, LOCK_EX | LOCK_NB) != 0) {
    const bool held = errno == EWOULDBLOCK;
    ::close(fd_);
    if (!held) fail_errno("lock", path);
    fail<RuntimeError>("{}: in use by another process ({}); stop it or choose another folder", path.string(),
                       read_file(path));
  }
  const std::string text = fmt::format("pid {}, {}", ::getpid(), owner);
  if (::ftruncate(fd_, 0) == 0) write_all(fd_, text, path);
}

FileLock::~FileLock() { ::close(fd_); }

TempDirectory::TempDirectory() {
  std::string name = (std::filesystem::temp_directory_path() / "pax-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) fail_errno("create folder", name);
  path_ = name;
}

TempDirectory::~TempDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace pax
