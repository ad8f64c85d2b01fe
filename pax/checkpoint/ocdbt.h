#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <variant>

#include "pax/checkpoint/byte_store.h"

namespace pax {

/// The newest version of an OCDBT database (a folder with manifest.ocdbt, as TensorStore and so Orbax write it), for
/// reading. Format: https://google.github.io/tensorstore/kvstore/ocdbt/index.html. Opening reads the whole tree of keys
/// and verifies its checksums; RuntimeErrors name the file at fault.
class OcdbtStore final : public ByteStore {
 public:
  /// A value in a data file.
  struct Place {
    std::string file;
    uint64_t offset = 0;
    uint64_t length = 0;
  };
  using Value = std::variant<std::string, Place>;

  explicit OcdbtStore(std::filesystem::path root);

  std::vector<std::string> top_names() const override;
  std::optional<uint64_t> size(std::string_view key) const override;
  void read(std::string_view key, uint64_t offset, std::span<std::byte> out) const override;
  std::string describe(std::string_view key) const override;

 private:
  std::filesystem::path root_;
  FolderStore files_;
  std::map<std::string, Value, std::less<>> values_;
};

}  // namespace pax
