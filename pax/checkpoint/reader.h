#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "pax/array/tree.h"
#include "pax/checkpoint/zarr.h"

namespace pax {

/// One checkpoint on disk: ours (checkpoint_%08d, every byte verified against its checksums), Paxml's, or an Orbax
/// PyTree item. Opening reads metadata only. All errors are RuntimeErrors that begin with the path at fault.
class CheckpointReader {
 public:
  /// `path` is a checkpoint_%08d folder, or any folder that holds an Orbax PyTree item, itself or as `state` or
  /// `items`. Throws when it is damaged, was never committed, or is no checkpoint.
  explicit CheckpointReader(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  /// The number of updates in the state.
  int64_t step() const { return step_; }
  /// Seconds since 1970; 0 when the checkpoint does not say.
  double commit_time() const { return commit_time_; }
  /// True when each byte is verified as it is read.
  bool has_checksums() const { return checksums_ != nullptr; }

  /// Element type and shape of each array.
  const Tree<TensorType>& types() const { return types_; }
  HostArray read(std::string_view name) const;
  /// Only the bytes of that box are read (in blocks of 16 MiB when they are verified).
  HostArray read(std::string_view name, const Region& region) const;
  HostTree read(std::span<const std::string> names) const;
  HostTree read_all() const;
  /// The small texts saved with the state.
  std::map<std::string, std::string> items() const;

 private:
  void open_ours();
  void open_foreign();
  /// `metadata` is where `_METADATA` lies, if there is one.
  void find_arrays(const ByteStore& metadata);
  const std::string& stored_name(std::string_view name) const;

  std::filesystem::path path_;
  int64_t step_ = 0;
  double commit_time_ = 0;
  std::shared_ptr<const Checksums> checksums_;
  std::unique_ptr<ByteStore> store_;
  Tree<std::string> stored_names_;
  Tree<ZarrArray> arrays_;
  Tree<TensorType> types_;
};

/// Compares what a checkpoint holds with what a model expects. Throws one RuntimeError that names `where` and every
/// array that is missing, not expected, or of another shape or element type (at most 20 of each kind), and ends with
/// `remedy`.
void require_same_types(std::string_view where, const Tree<TensorType>& found, const Tree<TensorType>& expected,
                        std::string_view remedy);

}  // namespace pax
