#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pax/checkpoint/checksums.h"

namespace pax {

/// Where the bytes of arrays lie: values by key ("params.lm.w/.zarray"). Safe from several threads. Errors are
/// RuntimeErrors that name the store and the key.
class ByteStore {
 public:
  virtual ~ByteStore() = default;

  /// Names that stand before the first '/' of a key: the arrays of a checkpoint, in order.
  virtual std::vector<std::string> top_names() const = 0;
  /// Size of the value; nothing when there is no such key.
  virtual std::optional<uint64_t> size(std::string_view key) const = 0;
  /// Fills `out` with the value's bytes from `offset` on. Throws when there are fewer.
  virtual void read(std::string_view key, uint64_t offset, std::span<std::byte> out) const = 0;

  /// For messages: path of the key.
  virtual std::string describe(std::string_view key) const = 0;

  /// The whole value as text; nothing when there is no such key. Throws when it is larger than `most` bytes.
  std::optional<std::string> text(std::string_view key, uint64_t most = uint64_t{64} << 20) const;
};

/// A folder: keys are paths below it. With checksums, every byte read is verified against them (files that they do not
/// list do not exist).
class FolderStore final : public ByteStore {
 public:
  explicit FolderStore(std::filesystem::path root) : root_(std::move(root)) {}
  /// `prefix` is the path of `root` inside the checkpoint that `checksums` describe ("state/").
  FolderStore(std::filesystem::path root, std::shared_ptr<const Checksums> checksums, std::string prefix)
      : root_(std::move(root)), checksums_(std::move(checksums)), prefix_(std::move(prefix)) {}

  std::vector<std::string> top_names() const override;
  std::optional<uint64_t> size(std::string_view key) const override;
  void read(std::string_view key, uint64_t offset, std::span<std::byte> out) const override;
  std::string describe(std::string_view key) const override;

 private:
  const FileChecksums* checksums_of(std::string_view key) const;

  std::filesystem::path root_;
  std::shared_ptr<const Checksums> checksums_;
  std::string prefix_;
};

}  // namespace pax
