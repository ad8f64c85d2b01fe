#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "pax/data/data_source.h"
#include "pax/data/token_stream.h"
#include "pax/data/tokenizer.h"

namespace pax::data {

/// What a tokenised data set is written as.
enum class TokenFormat {
  kBin,         ///< ids one after the other, little-endian
  kTfRecord,    ///< a tf.Example a document, its ids in one field
  kArrayRecord  ///< the same as ArrayRecord
};
std::span<const std::pair<TokenFormat, std::string_view>> enum_names(TokenFormat);

/// By the name's ending: `.bin`, `.tfrecord`, `.array_record`. Throws RuntimeError naming them.
TokenFormat token_format_of(const std::filesystem::path& path);

struct TokenizeOptions {
  std::string field = "text";             ///< of the source's records
  std::string id_field = "targets";       ///< of the records that are written
  std::optional<TokenFormat> format;      ///< unset: by the ending
  std::optional<IdWidth> width;           ///< of `.bin`; unset: two bytes where the vocabulary fits
  bool add_bos = false, add_eos = false;  ///< around each document
  int num_threads = 1;
};

struct TokenizeProgress {
  int64_t records = 0, total_records = 0, bytes = 0, tokens = 0;
  IdWidth width = IdWidth::kU16;  ///< of the ids in a `.bin`
};

/// Writes the ids of every record, in order, whatever the number of threads; `report` hears of each thousand records.
/// Throws RuntimeError naming file, record and offset; then `out` is not written.
TokenizeProgress tokenize_source(const DataSource& source, const Tokenizer& tokenizer, const std::filesystem::path& out,
                                 const TokenizeOptions& options,
                                 const std::function<void(const TokenizeProgress&)>& report);

}  // namespace pax::data
