#include "pax/checkpoint/write.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
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
#include "pax/checkpoint/region.h"
#include "pax/checkpoint/zarr_dtype.h"

namespace pax {
namespace {

/// A file to be written: its name inside the checkpoint, and its bytes: text of its own, an array's, or a piece of an
/// array that is gathered when its turn comes.
struct PlannedFile {
  std::string name;
  std::string text;
  std::span<const std::byte> borrowed;
  std::function<std::vector<std::byte>()> gather;
  size_t gathered_bytes = 0;

  std::span<const std::byte> bytes() const { return text.empty() ? borrowed : std::as_bytes(std::span(text)); }
  size_t size() const { return gather ? gathered_bytes : bytes().size(); }
};

/// A file while threads write blocks of it. The thread that ends it flushes it.
class FileInProgress {
 public:
  FileInProgress(Disk& disk, std::filesystem::path path, const PlannedFile& plan)
      : disk_(disk), path_(std::move(path)), plan_(plan), left_(blocks()), crcs_(block_count(plan.size())) {}

  /// An empty file has one block, too.
  size_t blocks() const { return std::max<size_t>(block_count(plan_.size()), 1); }

  void write(size_t block) {
    open();
    const size_t offset = block * kChecksumBlock;
    const auto piece = bytes_.subspan(offset, std::min(kChecksumBlock, bytes_.size() - offset));
    if (!piece.empty()) {
      crcs_[block] = crc32c(piece);
      disk_.write(*file_, piece, offset);
    }
    if (--left_ == 0) {
      disk_.flush(*file_);
      file_.reset();
      gathered_ = {};
    }
  }

  FileChecksums checksums() const { return {.bytes = plan_.size(), .crc32c = crcs_}; }

 private:
  void open() {
    const std::scoped_lock lock(mutex_);
    if (file_) return;
    if (plan_.gather) gathered_ = plan_.gather();
    bytes_ = plan_.gather ? std::span<const std::byte>(gathered_) : plan_.bytes();
    file_.emplace(disk_.create(path_));
  }

  Disk& disk_;
  const std::filesystem::path path_;
  const PlannedFile& plan_;
  std::atomic<size_t> left_;
  std::vector<uint32_t> crcs_;
  std::mutex mutex_;
  std::optional<OpenFile> file_;
  std::vector<std::byte> gathered_;
  std::span<const std::byte> bytes_;
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
    open.push_back(std::make_unique<FileInProgress>(disk, path, file));
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

/// zarr v2 metadata of an array held uncompressed in pieces.
std::string zarray_text(const TensorType& type, const Shape& piece) {
  return fmt::format(R"({{"chunks":[{}],"compressor":null,"dimension_separator":".","dtype":"{}","fill_value":null,)"
                     R"("filters":null,"order":"C","shape":[{}],"zarr_format":2}})",
                     join(piece.dims(), ","), zarr2_dtype(type.dtype), join(type.shape.dims(), ","));
}

/// "0.2.0", and "0" for a scalar.
std::string piece_name(const std::vector<int64_t>& index) { return index.empty() ? "0" : join(index, "."); }

/// The shape of an array's pieces: the one asked for, or all of it.
Shape piece_shape(const Checkpoint& checkpoint, const std::string& path, const Shape& shape) {
  const auto asked = checkpoint.pieces.find(path);
  Shape piece = asked == checkpoint.pieces.end() ? shape : asked->second;
  if (piece.rank() != shape.rank()) {
    fail<RuntimeError>("array {}: {} cannot be held in pieces of {}", path, to_string(shape), to_string(piece));
  }
  for (int64_t d = 0; d < piece.rank(); ++d) piece[d] = std::max<int64_t>(piece[d], 1);
  return piece;
}

/// The elements of a piece; what lies beyond the array's edge is zero, as zarr's pieces are all of one size.
std::vector<std::byte> gather_piece(const HostArray& array, const Shape& piece, const std::vector<int64_t>& origin) {
  const size_t element = byte_size(array.dtype());
  std::vector<std::byte> bytes(static_cast<size_t>(piece.num_elements()) * element);
  const Region shared = intersection(whole(array.shape()), {.begin = origin, .size = {piece.begin(), piece.end()}});
  copy_region({array.bytes(), array.shape(), origin}, {bytes, piece, std::vector<int64_t>(origin.size(), 0)},
              shared.size, element);
  return bytes;
}

void plan_pieces(std::vector<PlannedFile>& files, const std::string& folder, const HostArray& array,
                 const Shape& piece) {
  if (array.size_bytes() == 0) return;
  if (piece == array.shape()) {
    const std::vector<int64_t> first(static_cast<size_t>(piece.rank()), 0);
    files.push_back({.name = folder + "/" + piece_name(first), .borrowed = array.bytes()});
    return;
  }
  const size_t bytes = static_cast<size_t>(piece.num_elements()) * byte_size(array.dtype());
  for_each_cell(whole(array.shape()), piece, [&](const std::vector<int64_t>& index) {
    std::vector<int64_t> origin = index;
    for (size_t d = 0; d < origin.size(); ++d) origin[d] *= piece[static_cast<int64_t>(d)];
    files.push_back({.name = folder + "/" + piece_name(index),
                     .gather = [&array, piece, origin] { return gather_piece(array, piece, origin); },
                     .gathered_bytes = bytes});
  });
}

std::vector<PlannedFile> plan_files(const Checkpoint& checkpoint, double now) {
  std::vector<PlannedFile> files;
  Tree<TensorType> types;
  for (const auto& [path, array] : checkpoint.state) {
    types.emplace(path, array.type());
    const std::string folder = fmt::format("{}/{}", kStateItem, array_folder_name(path));
    const Shape piece = piece_shape(checkpoint, path, array.shape());
    files.push_back({.name = folder + "/.zarray", .text = zarray_text(array.type(), piece)});
    plan_pieces(files, folder, array, piece);
  }
  // Large files first, so that threads end together.
  std::stable_sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return a.size() > b.size(); });
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
