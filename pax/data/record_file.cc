#include "pax/data/record_file.h"

#include <fstream>
#include <optional>
#include <vector>

#include "pax/base/error.h"
#include "pax/base/files.h"
#include "pax/data/compression.h"

namespace pax::data {

void RecordFile::require_index(int64_t index) const {
  if (index < 0 || index >= size()) fail<RuntimeError>("{}: record {} of {} was asked for", path(), index, size());
}

struct FileBytes::Map {
  std::optional<MappedFile> file;
};

FileBytes::FileBytes(const std::filesystem::path& path) : map_(std::make_unique<Map>()) {
  map_->file.emplace(path);
  const Compression compression = detect_compression(map_->file->text());
  if (compression == Compression::kNone) return;
  const TempDirectory folder;  // the map outlives the name
  const std::filesystem::path expanded = folder.path() / "expanded";
  std::ofstream out(expanded, std::ios::binary);
  try {
    expand_to(compression, map_->file->text(),
              [&](std::string_view piece) { out.write(piece.data(), static_cast<std::streamsize>(piece.size())); });
  } catch (const RuntimeError& error) {
    damage_ = error.what();
  }
  out.close();
  if (!out)
    fail<RuntimeError>("{}: no room in {} to expand it; set TMPDIR to a larger disk", path.string(),
                       folder.path().parent_path().string());
  map_->file.emplace(expanded);
}

FileBytes::~FileBytes() = default;

std::string_view FileBytes::text() const { return map_->file->text(); }

namespace {

bool is_blank(std::string_view line) { return line.find_first_not_of(" \t\r") == std::string_view::npos; }

class LineFile final : public RecordFile {
 public:
  LineFile(const std::filesystem::path& path, LineRule rule) : RecordFile(path.string()), bytes_(path), rule_(rule) {
    const std::string_view text = bytes_.text();
    size_t start = 0;
    while (start < text.size()) {
      size_t end = text.find('\n', start);
      if (end == std::string_view::npos) end = text.size();
      if (rule == LineRule::kEvery || !is_blank(text.substr(start, end - start))) {
        starts_.push_back(start);
      }
      start = end + 1;
    }
  }

  int64_t size() const override { return static_cast<int64_t>(starts_.size()) + (bytes_.damage().empty() ? 0 : 1); }

  std::string_view at(int64_t index, std::string&) const override {
    require_index(index);
    if (static_cast<size_t>(index) == starts_.size()) require_whole();
    const std::string_view rest = bytes_.text().substr(starts_[static_cast<size_t>(index)]);
    std::string_view line = rest.substr(0, rest.find('\n'));
    if (rule_ == LineRule::kEvery && line.ends_with('\r')) line.remove_suffix(1);
    return line;
  }

  void require_whole() const override {
    if (!bytes_.damage().empty()) fail<RuntimeError>("{}: record {}: {}", path(), starts_.size(), bytes_.damage());
  }

 private:
  FileBytes bytes_;
  LineRule rule_;
  std::vector<uint64_t> starts_;
};

class WholeFile final : public RecordFile {
 public:
  explicit WholeFile(const std::filesystem::path& path) : RecordFile(path.string()), bytes_(path) {}
  int64_t size() const override { return 1; }
  std::string_view at(int64_t index, std::string&) const override {
    require_index(index);
    require_whole();
    return bytes_.text();
  }
  void require_whole() const override {
    if (!bytes_.damage().empty()) fail<RuntimeError>("{}: record 0: {}", path(), bytes_.damage());
  }

 private:
  FileBytes bytes_;
};

}  // namespace

std::unique_ptr<RecordFile> open_line_file(const std::filesystem::path& path, LineRule rule) {
  return std::make_unique<LineFile>(path, rule);
}

std::unique_ptr<RecordFile> open_whole_file(const std::filesystem::path& path) {
  return std::make_unique<WholeFile>(path);
}

}  // namespace pax::data
