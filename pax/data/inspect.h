#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "pax/data/batch.h"
#include "pax/data/data_source.h"
#include "pax/data/tokenizer.h"

namespace pax::data {

/// What a look at a source shows: records, fields with their types and sizes, and the first records.
struct SourceReport {
  struct Field {
    std::string type;      ///< "text", "ints", "floats"; several joined by '|'
    int64_t present = 0;   ///< records that have it
    int64_t min_size = 0;  ///< values in a record: bytes of a text
    int64_t max_size = 0;
    int64_t total_size = 0;
  };
  std::string name;
  int64_t records = 0;
  int64_t looked_at = 0;
  std::map<std::string, Field> fields;
  std::vector<std::string> damaged;  ///< errors of records that cannot be read
  std::vector<Example> first;
};

/// Looks at up to `limit` records spread over the source; keeps the first `examples`.
SourceReport inspect_source(const DataSource& source, int64_t limit, int64_t examples);
std::string to_text(const SourceReport& report);
std::string to_json(const SourceReport& report);

/// Token counts of a text field.
struct TokenReport {
  int64_t records = 0, bytes = 0, tokens = 0, unknown = 0;
  int64_t distinct = 0;  ///< ids that occur
  int32_t vocab_size = 0;
  int64_t shortest = 0, longest = 0;
  std::map<int64_t, int64_t> lengths;  ///< records by token count, rounded up to a power of two
  double bytes_per_token() const { return tokens == 0 ? 0 : static_cast<double>(bytes) / static_cast<double>(tokens); }
};

/// Tokenises `field` of up to `limit` records spread over the source.
TokenReport count_source_tokens(const DataSource& source, const std::string& field, const Tokenizer& tokenizer,
                                int64_t limit);
std::string to_text(const TokenReport& report);
std::string to_json(const TokenReport& report);

/// A bar for each length: how many of `what` have up to so many tokens.
std::string length_bars(const std::map<int64_t, int64_t>& lengths, const std::string& what);

/// How text is shown.
enum class Style { kPlain, kColour, kHtml };

/// The pieces of `text` with their ids, and what they decode to.
std::string show_tokens(const Tokenizer& tokenizer, const std::string& text, Style style);

/// Rows of a batch: each segment in its own colour, text without weight dim (in parentheses without colour), padding
/// counted; the branches `src/` and `tgt/` one after the other. Fields are listed with their types. `tokenizer` may be
/// nullptr: ids are shown. HTML is one section of an `html_page`; every token tells its id, place, segment and weight.
std::string show_batch(const HostTree& batch, const Tokenizer* tokenizer, Style style);

/// `body` as one page that needs no other file.
std::string html_page(const std::string& title, const std::string& body);

}  // namespace pax::data
