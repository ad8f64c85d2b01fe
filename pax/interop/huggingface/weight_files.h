#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "pax/array/safetensors.h"

namespace pax::hf {

/// The tensors of a model's folder: `model.safetensors`, or the files that `model.safetensors.index.json` names.
/// Opening reads and checks all headers; all errors are RuntimeErrors that name file and tensor.
class WeightFiles {
 public:
  /// `path` is the folder, or one file in safetensors format. Folders with nothing but pickles (`pytorch_model.bin`)
  /// are refused: reading those would run what is in them.
  explicit WeightFiles(const std::filesystem::path& path);

  const Tree<TensorType>& types() const { return types_; }
  HostArray read(std::string_view name) const;

 private:
  void open(const std::filesystem::path& file);
  void open_index(const std::filesystem::path& index);

  std::vector<std::unique_ptr<SafetensorsReader>> files_;
  std::vector<std::filesystem::path> paths_;
  Tree<TensorType> types_;
  Tree<size_t> places_;  ///< which file a tensor is in
};

/// Writes `tensors` into `directory` as `model.safetensors`, or when they take more than `max_file_bytes` as numbered
/// files with an index.
void write_weight_files(const std::filesystem::path& directory, const HostTree& tensors, size_t max_file_bytes);

}  // namespace pax::hf
