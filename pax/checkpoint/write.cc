#include "pax/checkpoint/write.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include "pax/base/error.h"
#include "pax/base/hash.h"
#include "pax/base/log.h"
#include "pax/base/text.h"
#include "pax/checkpoint/checksums.h"
#include "pax/checkpoint/layout.h"
#include "pax/checkpoint/orbax_metadata.h"
#include "pax/checkpoint/parallel.h"
#include "pax/checkpoint/zarr_dtype.h"

namespace pax {
namespace {

/// A file to be written: its name inside the checkpoint, and bytes that it owns or borrows.
struct PlannedFile {
  std::string name;
  std::string text;
  std::span<const std::byte> borrowed;

  std::span<const std::byte> bytes() const { return text.empty() ? borrowed : std::as_bytes(std::span(text)); }
};

/// A file while threads write blocks of it. The thread that ends it flushes it.
class FileInProgress {
 public:
  FileInProgress(Disk& disk, std::filesystem::path path, std::span<const std::byte> bytes)
      : disk_(disk), path_(std::move(path)), bytes_(bytes), left_(blocks()), crcs_(block_count(bytes.size())) {}

  /// An empty file has one block, too.
  size_t blocks() const { return std::max<size_t>(block_count(bytes_.size()), 1); }

  void write(size_t block) {
    const size_t offset = block * kChecksumBlock;
    const auto piece = bytes_.subspan(offset, std::min(kChecksumBlock, bytes_.size() - offset));
    const OpenFile& file = open();
    if (!piece.empty()) {
      crcs_[block] = crc32c(piece);
      disk_.write(file, piece, offset);
    }
    if (--left_ == 0) {
      disk_.flush(file);
      file_.reset();
    }
  }

  FileChecksums checksums() const { return {.bytes = bytes_.size(), .crc32c = crcs_}; }

 private:
  const OpenFile& open() {
    const std::scoped_lock lock(mutex_);
    if (!file_) file_.emplace(disk_.create(path_));
    return *file_;
  }

  Disk& disk_;
  const std::filesystem::path path_;
  const std::span<const std::byte> bytes_;
  std::atomic<size_t> left_;
  std::vector<uint32_t> crcs_;
  std::mutex mutex_;
  std::optional<OpenFile> file_;
};

/// Writes all files and the folders they need below `root`, everything flushed.
std::map<std::string, FileChecksums, std::less<>> write_files(Disk& disk, const std::filesystem::path& root,
                                                              const std::vector<PlannedFile>& files) {
  std::set<std::filesystem::path> folders = {root};
  std::vector<std::unique_ptr<FileInProgress>> open;
  std::vector<std::pair<FileInProgress*, size_t>> blocks;
  for (const PlannedFile& file : files) {
    const std::filesystem::path path = root / file.name;
    for (auto folder = path.parent_path(); folders.insert(folder).second;) folder = folder.parent_path();
    open.push_back(std::make_unique<FileInProgress>(disk, path, file.bytes()));
    for (size_t i = 0; i < open.back()->blocks(); ++i) blocks.emplace_back(open.back().get(), i);
  }
  for (const auto& folder : folders) disk.make_folders(folder);
  parallel_for(blocks.size(), io_threads(), [&](size_t i) { blocks[i].first->write(blocks[i].second); });
  const std::vector<std::filesystem::path> to_flush(folders.begin(), folders.end());
  parallel_for(to_flush.size(), io_threads(), [&](size_t i) { disk.flush_folder(to_flush[i]); });
  std::map<std::string, FileChecksums, std::less<>> sums;
  for (size_t i = 0; i < files.size(); ++i) sums.emplace(files[i].name, open[i]->checksums());
  return sums;
}

/// zarr v2 metadata of an array held uncompressed in one chunk.
std::string zarray_text(const TensorType& type) {
  std::vector<int64_t> chunks;
  for (const int64_t dim : type.shape) chunks.push_back(std::max<int64_t>(dim, 1));
  return fmt::format(R"({{"chunks":[{}],"compressor":null,"dimension_separator":".","dtype":"{}","fill_value":null,)"
                     R"("filters":null,"order":"C","shape":[{}],"zarr_format":2}})",
                     join(chunks, ","), zarr2_dtype(type.dtype), join(type.shape.dims(), ","));
}

/// The name of the only chunk: "0.0.0", and "0" for a scalar.
std::string chunk_name(const Shape& shape) {
  return join(std::vector<std::string>(static_cast<size_t>(std::max<int64_t>(shape.rank(), 1)), "0"), ".");
}

std::vector<PlannedFile> plan_files(const Checkpoint& checkpoint, double now) {
  std::vector<PlannedFile> files;
  std::set<std::string> folders;
  Tree<TensorType> types;
  for (const auto& [path, array] : checkpoint.state) {
    types.emplace(path, array.type());
    const std::string folder = fmt::format("{}/{}", kStateItem, array_folder_name(path));
    files.push_back({.name = folder + "/.zarray", .text = zarray_text(array.type())});
    if (array.size_bytes() == 0) continue;
    files.push_back({.name = folder + "/" + chunk_name(array.shape()), .borrowed = array.bytes()});
  }
  // Large files first, so that threads end together.
  std::stable_sort(files.begin(), files.end(),
                   [](const auto& a, const auto& b) { return a.bytes().size() > b.bytes().size(); });
  files.push_back({.name = fmt::format("{}/_METADATA", kStateItem), .text = orbax_tree_metadata(types)});
  files.push_back({.name = fmt::format("{}/_CHECKPOINT_METADATA", kStateItem), .text = orbax_item_metadata(now)});
  files.push_back({.name = "_CHECKPOINT_METADATA", .text = orbax_checkpoint_metadata(now)});
  files.push_back({.name = fmt::format("{0}/{0}", kMetadataItem), .text = paxml_metadata(types)});
  for (const auto& [name, text] : checkpoint.items) {
    require_item_name(name);
    files.push_back({.name = name, .text = text});
  }
  return files;
}

double unix_time() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// Everything of the checkpoint, under its temporary name.
void write_contents(Disk& disk, const std::filesystem::path& root, const Checkpoint& checkpoint) {
  const double now = unix_time();
  Checksums sums{.step = checkpoint.step, .commit_time = now};
  sums.files = write_files(disk, root, plan_files(checkpoint, now));
  const std::string text = to_json(sums);
  write_files(disk, root, {{.name = std::string(kChecksumsFile), .text = text}});
  const std::string marker =
      fmt::format("{} {:08x}\n", kChecksumsFile, crc32c(std::as_bytes(std::span<const char>(text))));
  write_files(disk, root, {{.name = std::string(kCommitMarker), .text = marker}});
}

}  // namespace

void write_checkpoint(Disk& disk, const std::filesystem::path& folder, const Checkpoint& checkpoint) {
  const std::string name = checkpoint_name(checkpoint.step);
  const auto stamp = std::chrono::system_clock::now().time_since_epoch().count();
  const std::filesystem::path temporary = folder / fmt::format("{}{}{}", name, kTemporaryInfix, stamp);
  bool in_place = false;
  try {
    write_contents(disk, temporary, checkpoint);
    if (std::filesystem::exists(folder / name)) {
      disk.exchange(temporary, folder / name, temporary.string() + "-old");
    } else {
      disk.move(temporary, folder / name);
    }
    in_place = true;
    disk.flush_folder(folder);
  } catch (...) {
    try {
      // Once in place, the temporary name is that of the checkpoint before, which a crash may yet bring back.
      if (!in_place) disk.remove(temporary);
    } catch (const std::exception& error) {
      log_warning("{} (the next start will)", error.what());
    }
    throw;
  }
  disk.remove(temporary);
}

}  // namespace pax
