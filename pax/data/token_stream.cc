#include "pax/data/token_stream.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>

#include "pax/base/error.h"
#include "pax/base/files.h"
#include "pax/base/hash.h"
#include "pax/base/log.h"
#include "pax/base/text.h"
#include "pax/data/dataset_identity.h"

namespace pax::data {
namespace {

constexpr size_t kPiece = size_t{1} << 20;
constexpr size_t kSample = size_t{256} << 10;

class ByteStream final : public TokenStream {
 public:
  explicit ByteStream(MappedFile file) : file_(std::move(file)) {}
  int64_t size() const override { return static_cast<int64_t>(file_.text().size()); }
  void copy(int64_t start, std::span<int32_t> out) const override {
    const auto* from = reinterpret_cast<const unsigned char*>(file_.text().data()) + start;
    for (size_t i = 0; i < out.size(); ++i) out[i] = from[i] + BytesTokenizer::kOffset;
  }

 private:
  MappedFile file_;
};

/// Ids of one width in a mapped file; a temporary file goes with the stream.
class IdStream final : public TokenStream {
 public:
  IdStream(const std::filesystem::path& path, IdWidth width, std::unique_ptr<TempDirectory> owner = nullptr)
      : owner_(std::move(owner)), file_(path), width_(width) {}
  int64_t size() const override { return static_cast<int64_t>(file_.text().size() / static_cast<size_t>(width_)); }
  void copy(int64_t start, std::span<int32_t> out) const override {
    const char* from = file_.text().data() + start * static_cast<int64_t>(width_);
    if (width_ == IdWidth::kI32) {
      std::memcpy(out.data(), from, out.size_bytes());
      return;
    }
    for (size_t i = 0; i < out.size(); ++i) {
      uint16_t id = 0;
      std::memcpy(&id, from + 2 * i, 2);
      out[i] = id;
    }
  }

 private:
  std::unique_ptr<TempDirectory> owner_;
  MappedFile file_;
  IdWidth width_;
};

/// The first `kPiece` bytes or so of `text`, cut after a line end where there is one, else before a character's start.
std::string_view first_piece(std::string_view text) {
  if (text.size() <= kPiece) return text;
  const size_t line_end = text.rfind('\n', kPiece);
  if (line_end != std::string_view::npos) return text.substr(0, line_end + 1);
  size_t end = kPiece;
  while (end > kPiece - 4 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end);
}

void tokenize_into(std::string_view text, const Tokenizer& tokenizer, const std::filesystem::path& path) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  std::vector<int32_t> ids;
  while (!text.empty()) {
    const std::string_view piece = first_piece(text);
    ids.clear();
    tokenizer.encode(piece, ids);
    out.write(reinterpret_cast<const char*>(ids.data()), static_cast<std::streamsize>(ids.size() * sizeof(int32_t)));
    text.remove_prefix(piece.size());
  }
  out.close();
  if (!out) fail<RuntimeError>("{}: cannot write the ids of a tokenised text; is the disk full?", path.string());
}

std::unique_ptr<TokenStream> open_tokenized(const MappedFile& file, const std::filesystem::path& path,
                                            const Tokenizer& tokenizer, const std::string& cache_dir) {
  if (cache_dir.empty()) {
    auto folder = std::make_unique<TempDirectory>();
    const std::filesystem::path ids = folder->path() / "ids.bin";
    tokenize_into(file.text(), tokenizer, ids);
    return std::make_unique<IdStream>(ids, IdWidth::kI32, std::move(folder));
  }
  const DatasetIdentity identity = identify_files(std::span(&path, 1));
  const std::string key = Digest().update(identity.fingerprint).update(tokenizer.fingerprint()).hex();
  const std::filesystem::path cached =
      std::filesystem::path(cache_dir) / fmt::format("{}.{}.ids", path.filename().string(), key);
  if (std::filesystem::exists(cached)) {
    log_info("token cache hit: {} for {} with tokenizer {}", cached.string(), path.string(), tokenizer.fingerprint());
  } else {
    log_info("token cache miss: tokenising {} with tokenizer {} into {}", path.string(), tokenizer.fingerprint(),
             cached.string());
    std::filesystem::create_directories(cache_dir);
    std::filesystem::path temporary = cached;
    temporary += ".tmp";
    tokenize_into(file.text(), tokenizer, temporary);
    std::filesystem::rename(temporary, cached);
  }
  return open_token_file(cached, IdWidth::kI32);
}

}  // namespace

std::span<const std::pair<IdWidth, std::string_view>> enum_names(IdWidth) {
  static constexpr std::array<std::pair<IdWidth, std::string_view>, 2> kNames{
      {{IdWidth::kU16, "uint16"}, {IdWidth::kI32, "int32"}}};
  return kNames;
}

void require_text(std::string_view text, const std::string& path) {
  size_t nuls = 0;
  size_t sampled = 0;
  bool valid = true;
  const size_t middle = text.size() / 2;
  const size_t tail = text.size() > kSample ? text.size() - kSample : 0;
  for (const size_t start : {size_t{0}, middle, tail}) {
    const std::string_view sample = text.substr(start, kSample);
    nuls += static_cast<size_t>(std::ranges::count(sample, '\0'));
    sampled += sample.size();
  }
  if (text.size() <= kSample) valid = is_utf8(text);
  if (nuls * 1000 > sampled) {
    fail<RuntimeError>(
        "{}: looks binary ({} NUL bytes in {} sampled); give a text file, or set allow_binary=true to train on raw "
        "bytes",
        path, nuls, sampled);
  }
  if (!valid) log_warning("{}: is not valid UTF-8; its bytes are used as they are", path);
}

std::unique_ptr<TokenStream> open_text(const std::filesystem::path& path, const Tokenizer& tokenizer,
                                       const TextOptions& options) {
  MappedFile file(path);
  if (file.text().empty()) fail<RuntimeError>("{}: the text file is empty; give a file with text", path.string());
  if (options.binary == BinaryText::kRefuse) require_text(file.text(), path.string());
  if (tokenizer.is_bytes()) return std::make_unique<ByteStream>(std::move(file));
  return open_tokenized(file, path, tokenizer, options.cache_dir);
}

std::unique_ptr<TokenStream> open_token_file(const std::filesystem::path& path, IdWidth width) {
  const uintmax_t size = std::filesystem::exists(path) ? std::filesystem::file_size(path) : 0;
  if (size % static_cast<uintmax_t>(width) != 0) {
    fail<RuntimeError>("{}: {} bytes are no whole number of ids of {} bytes", path.string(), size,
                       static_cast<int>(width));
  }
  return std::make_unique<IdStream>(path, width);
}

}  // namespace pax::data
