#include "pax/checkpoint/byte_store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>

#include "pax/base/error.h"
#include "pax/base/hash.h"

namespace pax {
namespace {

/// A file open for reading, -1 when there is none.
class InputFile {
 public:
  explicit InputFile(const std::filesystem::path& path) : path_(path), fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (fd_ < 0) fail<RuntimeError>("{}: cannot open: {}", path.string(), std::strerror(errno));
  }
  ~InputFile() { ::close(fd_); }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  void read(uint64_t offset, std::span<std::byte> out) const {
    while (!out.empty()) {
      const ssize_t got = ::pread(fd_, out.data(), out.size(), static_cast<off_t>(offset));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) fail<RuntimeError>("{}: cannot read: {}", path_.string(), std::strerror(errno));
      if (got == 0) fail<RuntimeError>("{}: cut short: {} bytes are missing at {}", path_.string(), out.size(), offset);
      out = out.subspan(static_cast<size_t>(got));
      offset += static_cast<uint64_t>(got);
    }
  }

 private:
  const std::filesystem::path& path_;
  int fd_;
};

}  // namespace

std::optional<std::string> ByteStore::text(std::string_view key, uint64_t most) const {
  const std::optional<uint64_t> bytes = size(key);
  if (!bytes) return std::nullopt;
  if (*bytes > most)
    fail<RuntimeError>("{}: {} bytes, more than the {} that are plausible", describe(key), *bytes, most);
  std::string value(*bytes, '\0');
  read(key, 0, std::as_writable_bytes(std::span(value)));
  return value;
}

std::vector<std::string> FolderStore::top_names() const {
  std::set<std::string> names;
  std::error_code failure;
  for (const auto& entry : std::filesystem::directory_iterator(root_, failure)) {
    if (entry.is_directory()) names.insert(entry.path().filename().string());
  }
  if (failure) fail<RuntimeError>("{}: cannot list the folder: {}", root_.string(), failure.message());
  return {names.begin(), names.end()};
}

const FileChecksums* FolderStore::checksums_of(std::string_view key) const {
  const auto found = checksums_->files.find(prefix_ + std::string(key));
  return found == checksums_->files.end() ? nullptr : &found->second;
}

std::optional<uint64_t> FolderStore::size(std::string_view key) const {
  struct stat info {};
  const std::filesystem::path path = root_ / key;
  const bool exists = ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
  if (!checksums_) return exists ? std::optional(static_cast<uint64_t>(info.st_size)) : std::nullopt;
  const FileChecksums* sums = checksums_of(key);
  if (sums == nullptr) return std::nullopt;
  if (!exists) fail<RuntimeError>("{}: missing", path.string());
  if (static_cast<uint64_t>(info.st_size) != sums->bytes) {
    fail<RuntimeError>("{}: {} bytes, but {} were saved", path.string(), info.st_size, sums->bytes);
  }
  return sums->bytes;
}

void FolderStore::read(std::string_view key, uint64_t offset, std::span<std::byte> out) const {
  const std::filesystem::path path = root_ / key;
  const InputFile file(path);
  if (!checksums_) return file.read(offset, out);
  const FileChecksums* sums = checksums_of(key);
  if (sums == nullptr) fail<RuntimeError>("{}: not part of the checkpoint", path.string());
  if (offset > sums->bytes || out.size() > sums->bytes - offset) {
    fail<RuntimeError>("{}: has {} bytes, {} are wanted at {}", path.string(), sums->bytes, out.size(), offset);
  }
  std::vector<std::byte> scratch;
  for (uint64_t end = offset + out.size(); offset < end;) {
    const size_t block = offset / kChecksumBlock;
    const uint64_t block_begin = block * kChecksumBlock;
    const size_t block_bytes = std::min<uint64_t>(kChecksumBlock, sums->bytes - block_begin);
    const size_t skip = offset - block_begin;
    const size_t wanted = std::min<uint64_t>(block_bytes - skip, end - offset);
    std::span<std::byte> whole = out.first(wanted);
    if (wanted != block_bytes) {
      scratch.resize(block_bytes);
      whole = scratch;
    }
    file.read(block_begin, whole);
    if (crc32c(whole) != sums->crc32c[block]) {
      fail<RuntimeError>("{}: damaged: the checksum of bytes {} to {} is not the one saved", path.string(), block_begin,
                         block_begin + block_bytes);
    }
    if (wanted != block_bytes) std::copy_n(scratch.begin() + static_cast<ptrdiff_t>(skip), wanted, out.begin());
    out = out.subspan(wanted);
    offset += wanted;
  }
}

std::string FolderStore::describe(std::string_view key) const { return (root_ / key).string(); }

}  // namespace pax
