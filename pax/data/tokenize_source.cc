#include "pax/data/tokenize_source.h"

#include <array>
#include <cstring>

#include "pax/base/error.h"
#include "pax/data/record_writer.h"
#include "pax/data/worker_pool.h"

namespace pax::data {
namespace {

constexpr int64_t kAtOnce = 1024;

struct Document {
  int64_t text_bytes = 0, tokens = 0;
  std::string record;
};

int32_t special(const std::optional<int32_t>& id, const char* role, const Tokenizer& tokenizer) {
  if (!id) fail<ConfigError>("tokenizer {} has no {}; leave --add_{} out", tokenizer.fingerprint(), role, role);
  return *id;
}

/// The text of a record. Throws RuntimeError naming the record and the fields there are.
const std::string& text_of(const Example& example, const std::string& field, const DataSource& source, int64_t record) {
  try {
    return example.text(field);
  } catch (const RuntimeError& error) {
    fail<RuntimeError>("{}: record {}: {}", source.identity().name, record, error.what());
  }
}

std::string packed_ids(std::span<const int32_t> ids, IdWidth width) {
  std::string bytes(ids.size() * static_cast<size_t>(width), '\0');
  if (width == IdWidth::kI32) {
    std::memcpy(bytes.data(), ids.data(), bytes.size());
    return bytes;
  }
  for (size_t i = 0; i < ids.size(); ++i) {
    const auto id = static_cast<uint16_t>(ids[i]);
    std::memcpy(bytes.data() + 2 * i, &id, 2);
  }
  return bytes;
}

std::unique_ptr<RecordWriter> open_writer(const std::filesystem::path& out, TokenFormat format) {
  if (format == TokenFormat::kTfRecord) return write_tfrecord(out);
  if (format == TokenFormat::kArrayRecord) return write_array_record(out);
  return write_plain(out);
}

}  // namespace

std::span<const std::pair<TokenFormat, std::string_view>> enum_names(TokenFormat) {
  static constexpr std::array<std::pair<TokenFormat, std::string_view>, 3> kNames{
      {{TokenFormat::kBin, "bin"}, {TokenFormat::kTfRecord, "tfrecord"}, {TokenFormat::kArrayRecord, "array_record"}}};
  return kNames;
}

TokenFormat token_format_of(const std::filesystem::path& path) {
  constexpr std::array<std::pair<std::string_view, TokenFormat>, 5> kEndings{
      {{".bin", TokenFormat::kBin},
       {".tfrecord", TokenFormat::kTfRecord},
       {".tfrecords", TokenFormat::kTfRecord},
       {".array_record", TokenFormat::kArrayRecord},
       {".arrayrecord", TokenFormat::kArrayRecord}}};
  const std::string name = path.filename().string();
  for (const auto& [ending, format] : kEndings) {
    if (name.ends_with(ending) || name.find(std::string(ending) + "-") != std::string::npos) return format;
  }
  fail<RuntimeError>(
      "{}: ids are written to names that end in .bin, .tfrecord or .array_record; or say which as format",
      path.string());
}

TokenizeProgress tokenize_source(const DataSource& source, const Tokenizer& tokenizer, const std::filesystem::path& out,
                                 const TokenizeOptions& options,
                                 const std::function<void(const TokenizeProgress&)>& report) {
  const TokenFormat format = options.format ? *options.format : token_format_of(out);
  const bool fits = tokenizer.vocab_size() <= 1 << 16;
  const IdWidth width = options.width.value_or(fits ? IdWidth::kU16 : IdWidth::kI32);
  if (width == IdWidth::kU16 && !fits) {
    fail<ConfigError>("{}: a vocabulary of {} ids does not fit in two bytes; use width int32", out.string(),
                      tokenizer.vocab_size());
  }
  std::optional<int32_t> bos, eos;
  if (options.add_bos) bos = special(tokenizer.special_ids().bos, "bos", tokenizer);
  if (options.add_eos) eos = special(tokenizer.special_ids().eos, "eos", tokenizer);
  const auto tokenize = [&](int64_t record) {
    const Example example = source.at(record);
    const std::string& text = text_of(example, options.field, source, record);
    std::vector<int32_t> ids;
    if (bos) ids.push_back(*bos);
    tokenizer.encode(text, ids);
    if (eos) ids.push_back(*eos);
    Document document{static_cast<int64_t>(text.size()), static_cast<int64_t>(ids.size()), {}};
    if (format == TokenFormat::kBin) {
      document.record = packed_ids(ids, width);
    } else {
      Example made;
      made.set(options.id_field, Ints(ids.begin(), ids.end()));
      document.record = serialize_tf_example(made);
    }
    return document;
  };
  TokenizeProgress progress{.total_records = source.size(), .width = width};
  const std::unique_ptr<RecordWriter> writer = open_writer(out, format);
  WorkerPool workers(options.num_threads - 1);
  std::vector<Document> documents;
  while (progress.records < progress.total_records) {
    documents.resize(static_cast<size_t>(std::min(kAtOnce, progress.total_records - progress.records)));
    workers.run(documents.size(),
                [&](size_t i) { documents[i] = tokenize(progress.records + static_cast<int64_t>(i)); });
    for (const Document& document : documents) {
      writer->add(document.record);
      progress.bytes += document.text_bytes;
      progress.tokens += document.tokens;
    }
    progress.records += static_cast<int64_t>(documents.size());
    report(progress);
  }
  writer->close();
  return progress;
}

}  // namespace pax::data
