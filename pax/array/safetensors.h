#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "pax/array/tree.h"
#include "pax/base/files.h"

namespace pax {

/// One safetensors file, mapped. The header is checked in full when it is opened: RuntimeError names file and tensor.
class SafetensorsReader {
 public:
  explicit SafetensorsReader(const std::filesystem::path& path);

  /// Element type and shape of each tensor, by name.
  const Tree<TensorType>& types() const { return types_; }
  /// The text entries of `__metadata__`.
  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  /// Shares the mapped bytes, or copies them where the file left them unaligned. Throws when there is no such tensor.
  HostArray read(std::string_view name) const;
  HostTree read_all() const;

 private:
  std::filesystem::path path_;
  std::shared_ptr<const MappedFile> file_;
  Tree<TensorType> types_;
  Tree<size_t> offsets_;
  std::map<std::string, std::string> metadata_;
};

/// Every tensor of the file.
HostTree read_safetensors(const std::filesystem::path& path);

/// Writes beside `path` and renames, so that readers see the old file or the new one. Throws RuntimeError for element
/// types that the format lacks (int4, uint4).
void write_safetensors(const std::filesystem::path& path, const HostTree& tensors,
                       const std::map<std::string, std::string>& metadata = {});

}  // namespace pax
