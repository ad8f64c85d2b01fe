#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "pax/data/tokenizer.h"

namespace pax::data {

/// A long row of ids on disk, read in place: resident memory does not grow with the file.
class TokenStream {
 public:
  virtual ~TokenStream() = default;
  virtual int64_t size() const = 0;
  /// Copies ids [start, start + out.size()), which must lie inside.
  virtual void copy(int64_t start, std::span<int32_t> out) const = 0;
};

enum class BinaryText { kRefuse, kAllow };

/// How a text file becomes ids.
struct TextOptions {
  BinaryText binary = BinaryText::kRefuse;
  /// Folder that keeps the ids of files that were tokenised, named by text and tokenizer; empty: tokenise each time.
  std::string cache_dir;
};

/// The ids of a text file. With the bytes tokenizer the file is mapped; with others it is tokenised once into a file,
/// in pieces of about a megabyte cut at line ends. Throws RuntimeError for a file that is missing, unreadable, empty,
/// or that looks binary.
std::unique_ptr<TokenStream> open_text(const std::filesystem::path& path, const Tokenizer& tokenizer,
                                       const TextOptions& options = {});

/// Width of an id in a file of ids (nanoGPT's and Megatron's `.bin`).
enum class IdWidth { kU16 = 2, kI32 = 4 };
std::span<const std::pair<IdWidth, std::string_view>> enum_names(IdWidth);

/// Little-endian ids, one after the other. Throws RuntimeError when the size is no multiple of the width.
std::unique_ptr<TokenStream> open_token_file(const std::filesystem::path& path, IdWidth width);

/// Throws RuntimeError when `text` is not text: more than one NUL byte in a thousand of what is sampled (head, middle,
/// tail). Warns about invalid UTF-8.
void require_text(std::string_view text, const std::string& path);

}  // namespace pax::data
