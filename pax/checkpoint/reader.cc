#include "pax/checkpoint/reader.h"

#include <unistd.h>

#include <charconv>
#include <cstdlib>

#include "pax/base/error.h"
#include "pax/base/files.h"
#include "pax/base/text.h"
#include "pax/checkpoint/catalog.h"
#include "pax/checkpoint/layout.h"
#include "pax/checkpoint/ocdbt.h"
#include "pax/checkpoint/orbax_metadata.h"
#include "pax/checkpoint/parallel.h"

namespace pax {
namespace {

constexpr std::string_view kTreeMetadata = "_METADATA";
constexpr size_t kPage = 4096;

/// Room for an array, not yet filled.
std::shared_ptr<std::byte> allocate(std::string_view name, size_t bytes) {
  const auto memory = static_cast<uint64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  if (bytes > memory) {
    fail<RuntimeError>("{}: {} do not fit into this machine's {}", name, human_bytes(bytes), human_bytes(memory));
  }
  auto* room =
      static_cast<std::byte*>(std::aligned_alloc(kPage, std::max((bytes + kPage - 1) / kPage, size_t{1}) * kPage));
  if (room == nullptr) fail<RuntimeError>("{}: out of memory for {}", name, human_bytes(bytes));
  return {room, [](std::byte* p) { std::free(p); }};
}

}  // namespace

CheckpointReader::CheckpointReader(const std::filesystem::path& path) : path_(path) {
  if (!std::filesystem::is_directory(path)) fail<RuntimeError>("{}: no such folder", path.string());
  if (path.filename().string().find(kTemporaryInfix) != std::string::npos) {
    fail<RuntimeError>("{}: was never committed: it has the name of a checkpoint being written", path.string());
  }
  if (std::filesystem::exists(path / kChecksumsFile)) {
    open_ours();
  } else {
    open_foreign();
  }
}

void CheckpointReader::open_ours() {
  checksums_ = read_committed(path_);
  step_ = checksums_->step;
  commit_time_ = checksums_->commit_time;
  const std::optional<int64_t> named = step_of_checkpoint_name(path_.filename().string());
  if (named && *named != step_) fail<RuntimeError>("{}: holds step {}; was it renamed?", path_.string(), step_);
  store_ = std::make_unique<FolderStore>(path_ / kStateItem, checksums_, fmt::format("{}/", kStateItem));
  find_arrays(*store_);
}

void CheckpointReader::open_foreign() {
  const std::filesystem::path folder = find_array_folder(path_);
  if (std::filesystem::exists(folder / "manifest.ocdbt")) {
    store_ = std::make_unique<OcdbtStore>(folder);
  } else {
    store_ = std::make_unique<FolderStore>(folder);
  }
  find_arrays(FolderStore(folder));
  const auto step = types_.find("step");
  if (step != types_.end() && step->second.shape.num_elements() == 1) {
    step_ = static_cast<int64_t>(read("step").item());
    return;
  }
  const std::string name = path_.filename().string();
  const std::string digits = name.substr(name.find_last_not_of("0123456789") + 1);
  std::from_chars(digits.data(), digits.data() + digits.size(), step_);
}

void CheckpointReader::find_arrays(const ByteStore& metadata) {
  if (const auto text = metadata.text(kTreeMetadata)) {
    for (const auto& [stored, name] : parse_orbax_tree_metadata(metadata.describe(kTreeMetadata), *text)) {
      stored_names_.emplace(name, stored);
    }
  } else {
    for (const std::string& stored : store_->top_names()) {
      std::string name = stored;
      std::replace(name.begin(), name.end(), '.', '/');
      stored_names_.emplace(name, stored);
    }
  }
  for (const auto& [name, stored] : stored_names_) {
    std::optional<ZarrArray> array = find_zarr(*store_, stored);
    if (!array) fail<RuntimeError>("{}: array {} is missing", store_->describe(stored), json_quote(name));
    types_.emplace(name, array->type);
    arrays_.emplace(name, std::move(*array));
  }
}

const std::string& CheckpointReader::stored_name(std::string_view name) const {
  const auto found = stored_names_.find(name);
  if (found != stored_names_.end()) return found->second;
  std::vector<std::string> names;
  for (const auto& [known, stored] : stored_names_) names.push_back(known);
  fail<RuntimeError>("{}: has no array {}.{}", path_.string(), json_quote(name), did_you_mean(name, names));
}

HostArray CheckpointReader::read(std::string_view name) const {
  const std::string names[] = {std::string(name)};
  return std::move(read(std::span<const std::string>(names)).begin()->second);
}

HostArray CheckpointReader::read(std::string_view name, const Region& region) const {
  const std::string& stored = stored_name(name);
  const ZarrArray& array = arrays_.find(name)->second;
  const Shape& shape = array.type.shape;
  bool inside = region.begin.size() == static_cast<size_t>(shape.rank()) && region.size.size() == region.begin.size();
  for (size_t d = 0; inside && d < region.begin.size(); ++d) {
    inside = region.begin[d] >= 0 && region.size[d] >= 0 &&
             region.size[d] <= shape[static_cast<int64_t>(d)] - region.begin[d];
  }
  if (!inside) {
    fail<RuntimeError>("{}: [{}] at [{}] does not lie inside {}", store_->describe(stored), join(region.size, ","),
                       join(region.begin, ","), to_string(array.type));
  }
  TensorType type{array.type.dtype, Shape(region.size)};
  const size_t bytes = static_cast<size_t>(region.num_elements()) * byte_size(type.dtype);
  const auto memory = allocate(store_->describe(stored), bytes);
  const auto work = plan_read(*store_, stored, array, region, {memory.get(), bytes});
  parallel_for(work.size(), io_threads(), [&](size_t i) { work[i](); });
  return {std::move(type), memory};
}

HostTree CheckpointReader::read(std::span<const std::string> names) const {
  HostTree tree;
  std::vector<std::function<void()>> work;
  for (const std::string& name : names) {
    const std::string& stored = stored_name(name);
    const ZarrArray& array = arrays_.find(name)->second;
    const size_t bytes = static_cast<size_t>(array.type.shape.num_elements()) * byte_size(array.type.dtype);
    const auto memory = allocate(store_->describe(stored), bytes);
    auto calls = plan_read(*store_, stored, array, whole(array.type.shape), {memory.get(), bytes});
    std::move(calls.begin(), calls.end(), std::back_inserter(work));
    tree.emplace(name, HostArray(array.type, memory));
  }
  parallel_for(work.size(), io_threads(), [&](size_t i) { work[i](); });
  return tree;
}

HostTree CheckpointReader::read_all() const {
  std::vector<std::string> names;
  for (const auto& [name, type] : types_) names.push_back(name);
  return read(std::span<const std::string>(names));
}

std::map<std::string, std::string> CheckpointReader::items() const {
  std::map<std::string, std::string> items;
  if (!checksums_) return items;
  const FolderStore folder(path_, checksums_, "");
  for (const auto& [name, sums] : checksums_->files) {
    const std::string first = name.substr(0, name.find('/'));
    if (first != kStateItem && first != kMetadataItem && !first.starts_with("_"))
      items.emplace(name, *folder.text(name));
  }
  return items;
}

}  // namespace pax
