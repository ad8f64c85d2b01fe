#include "pax/checkpoint/ocdbt.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "pax/base/error.h"
#include "pax/base/files.h"
#include "pax/base/text.h"
#include "pax/checkpoint/ocdbt_format.h"

namespace pax {
namespace {

using ocdbt::DataFile;
using ocdbt::Leaf;
using ocdbt::NodePlace;

constexpr std::string_view kManifest = "manifest.ocdbt";
constexpr size_t kNumberedDigits = 16;
constexpr size_t kMostNodes = 1 << 20;
constexpr uint64_t kMostNodeBytes = uint64_t{1} << 30;

/// The manifest that holds the newest version: manifest.ocdbt, or the last of the numbered ones.
ocdbt::Manifest read_manifest(const std::filesystem::path& root) {
  const auto parse = [](const std::filesystem::path& path) {
    const std::string where = path.string();
    return ocdbt::parse_manifest(where, ocdbt::open_envelope(where, ocdbt::kManifestMagic, read_file(path)));
  };
  ocdbt::Manifest manifest = parse(root / kManifest);
  if (!manifest.numbered) return manifest;
  std::string last;
  for (const auto& entry : std::filesystem::directory_iterator(root)) {
    const std::string name = entry.path().filename().string();
    const bool numbered = name.starts_with("manifest.") && name.size() == std::strlen("manifest.") + kNumberedDigits;
    if (numbered) last = std::max(last, name);
  }
  if (last.empty()) fail<RuntimeError>("{}: has no numbered manifest", root.string());
  manifest = parse(root / last);
  if (manifest.numbered) fail<RuntimeError>("{}: holds no version", (root / last).string());
  return manifest;
}

std::string read_node(const FolderStore& files, const NodePlace& place) {
  const std::string where = fmt::format("{} at {}", files.describe(place.file.path), place.offset);
  const std::optional<uint64_t> size = files.size(place.file.path);
  if (!size) fail<RuntimeError>("{}: missing", files.describe(place.file.path));
  if (place.length > kMostNodeBytes || place.offset > *size || place.length > *size - place.offset) {
    fail<RuntimeError>("{}: a node of {} bytes lies outside the file", where, place.length);
  }
  std::string bytes(place.length, '\0');
  files.read(place.file.path, place.offset, std::as_writable_bytes(std::span(bytes)));
  return ocdbt::open_envelope(where, ocdbt::kNodeMagic, bytes);
}

/// Every leaf below `roots`.
std::vector<Leaf> read_leaves(const FolderStore& files, std::vector<NodePlace> roots) {
  std::vector<Leaf> leaves;
  size_t nodes = 0;
  while (!roots.empty()) {
    const NodePlace place = std::move(roots.back());
    roots.pop_back();
    if (++nodes > kMostNodes) fail<RuntimeError>("{}: more nodes than are plausible", files.describe(place.file.path));
    ocdbt::Node node = ocdbt::parse_node(files.describe(place.file.path), read_node(files, place), place);
    std::move(node.children.begin(), node.children.end(), std::back_inserter(roots));
    std::move(node.leaves.begin(), node.leaves.end(), std::back_inserter(leaves));
  }
  return leaves;
}

}  // namespace

OcdbtStore::OcdbtStore(std::filesystem::path root) : root_(std::move(root)), files_(root_) {
  for (Leaf& leaf : read_leaves(files_, read_manifest(root_).root)) {
    if (leaf.file.path.empty()) {
      values_.insert_or_assign(std::move(leaf.key), std::move(leaf.value));
    } else {
      values_.insert_or_assign(std::move(leaf.key), Place{leaf.file.path, leaf.offset, leaf.length});
    }
  }
}

std::vector<std::string> OcdbtStore::top_names() const {
  std::set<std::string> names;
  for (const auto& [key, value] : values_) {
    if (const size_t slash = key.find('/'); slash != std::string::npos) names.insert(key.substr(0, slash));
  }
  return {names.begin(), names.end()};
}

std::optional<uint64_t> OcdbtStore::size(std::string_view key) const {
  const auto found = values_.find(key);
  if (found == values_.end()) return std::nullopt;
  const auto* place = std::get_if<Place>(&found->second);
  return place != nullptr ? place->length : std::get<std::string>(found->second).size();
}

void OcdbtStore::read(std::string_view key, uint64_t offset, std::span<std::byte> out) const {
  const std::optional<uint64_t> bytes = size(key);
  if (!bytes || offset > *bytes || out.size() > *bytes - offset) {
    fail<RuntimeError>("{}: has {} bytes, {} are wanted at {}", describe(key), bytes.value_or(0), out.size(), offset);
  }
  const Value& value = values_.find(key)->second;
  if (const auto* place = std::get_if<Place>(&value)) {
    uint64_t begin = 0;
    if (__builtin_add_overflow(place->offset, offset, &begin) || begin > INT64_MAX) {
      fail<RuntimeError>("{}: lies outside {}", describe(key), files_.describe(place->file));
    }
    return files_.read(place->file, begin, out);
  }
  std::memcpy(out.data(), std::get<std::string>(value).data() + offset, out.size());
}

std::string OcdbtStore::describe(std::string_view key) const {
  return fmt::format("{} (in OCDBT {})", key, root_.string());
}

}  // namespace pax
