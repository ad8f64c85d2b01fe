#include "pax/data/inspect.h"

#include <algorithm>
#include <array>
#include <bit>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "pax/base/error.h"
#include "pax/base/text.h"

namespace pax::data {
namespace {

/// Up to `limit` record numbers spread evenly over `size`.
std::vector<int64_t> spread(int64_t size, int64_t limit) {
  std::vector<int64_t> numbers;
  const int64_t count = std::min(size, limit);
  for (int64_t i = 0; i < count; ++i) {
    numbers.push_back(count == size ? i
                                    : static_cast<int64_t>(static_cast<double>(size) * static_cast<double>(i) /
                                                           static_cast<double>(count)));
  }
  return numbers;
}

/// Type and size of a feature's values; the size of a text is its bytes.
std::pair<std::string_view, int64_t> kind_of(const Feature& feature) {
  if (const auto* strings = std::get_if<Strings>(&feature)) {
    int64_t bytes = 0;
    for (const std::string& text : *strings) bytes += static_cast<int64_t>(text.size());
    return {"text", bytes};
  }
  if (const auto* ints = std::get_if<Ints>(&feature)) return {"ints", static_cast<int64_t>(ints->size())};
  return {"floats", static_cast<int64_t>(std::get<Floats>(feature).size())};
}

void add_field(SourceReport::Field& field, const Feature& feature) {
  const auto [type, size] = kind_of(feature);
  if (field.present == 0) field.min_size = size;
  if (field.type.find(type) == std::string::npos) field.type += (field.type.empty() ? "" : "|") + std::string(type);
  ++field.present;
  field.min_size = std::min(field.min_size, size);
  field.max_size = std::max(field.max_size, size);
  field.total_size += size;
}

nlohmann::json as_json(const Example& example) {
  nlohmann::json object = nlohmann::json::object();
  for (const auto& [name, feature] : example.fields()) {
    std::visit(
        [&](const auto& list) { object[name] = list.size() == 1 ? nlohmann::json(list[0]) : nlohmann::json(list); },
        feature);
  }
  return object;
}

/// JSON text of what may hold bytes that are no UTF-8.
std::string dump(const nlohmann::json& value, int indent = -1) {
  return value.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

SourceReport inspect_source(const DataSource& source, int64_t limit, int64_t examples) {
  SourceReport report{.name = source.identity().name, .records = source.size()};
  for (const int64_t number : spread(source.size(), limit)) {
    ++report.looked_at;
    try {
      const Example example = source.at(number);
      for (const auto& [name, feature] : example.fields()) add_field(report.fields[name], feature);
      if (static_cast<int64_t>(report.first.size()) < examples) report.first.push_back(example);
    } catch (const RuntimeError& error) {
      report.damaged.emplace_back(error.what());
    }
  }
  return report;
}

std::string to_text(const SourceReport& report) {
  std::string out = fmt::format("{}: {} records", report.name, with_commas(report.records));
  if (report.looked_at < report.records) out += fmt::format(", {} looked at", with_commas(report.looked_at));
  out += "\n";
  for (const auto& [name, field] : report.fields) {
    out += fmt::format("  {:<20} {:<8} in {} records; {} to {} {}, mean {:.1f}\n", name, field.type,
                       with_commas(field.present), field.min_size, field.max_size,
                       field.type == "text" ? "bytes" : "values",
                       static_cast<double>(field.total_size) / static_cast<double>(field.present));
  }
  for (const std::string& error : report.damaged) out += fmt::format("  damaged: {}\n", error);
  for (const Example& example : report.first) out += fmt::format("  {}\n", dump(as_json(example)));
  return out;
}

std::string to_json(const SourceReport& report) {
  nlohmann::json fields = nlohmann::json::object();
  for (const auto& [name, f] : report.fields) {
    fields[name] = {
        {"type", f.type}, {"present", f.present}, {"min", f.min_size}, {"max", f.max_size}, {"total", f.total_size}};
  }
  nlohmann::json first = nlohmann::json::array();
  for (const Example& example : report.first) first.push_back(as_json(example));
  return dump({{"name", report.name},
               {"records", report.records},
               {"looked_at", report.looked_at},
               {"fields", fields},
               {"damaged", report.damaged},
               {"first", first}});
}

TokenReport count_source_tokens(const DataSource& source, const std::string& field, const Tokenizer& tokenizer,
                                int64_t limit) {
  TokenReport report{.vocab_size = tokenizer.vocab_size(), .shortest = INT64_MAX};
  const std::optional<int32_t> unknown = tokenizer.special_ids().unk;
  std::unordered_set<int32_t> seen;
  std::vector<int32_t> ids;
  for (const int64_t number : spread(source.size(), limit)) {
    const Example example = source.at(number);
    const std::string& text = example.text(field);
    ids.clear();
    tokenizer.encode(text, ids);
    const auto count = static_cast<int64_t>(ids.size());
    ++report.records;
    report.bytes += static_cast<int64_t>(text.size());
    report.tokens += count;
    report.shortest = std::min(report.shortest, count);
    report.longest = std::max(report.longest, count);
    ++report.lengths[static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(count)))];
    for (const int32_t id : ids) {
      seen.insert(id);
      if (unknown && id == *unknown) ++report.unknown;
    }
  }
  if (report.records == 0) report.shortest = 0;
  report.distinct = static_cast<int64_t>(seen.size());
  return report;
}

std::string length_bars(const std::map<int64_t, int64_t>& lengths, const std::string& what) {
  int64_t most = 1;
  std::string out;
  for (const auto& [length, count] : lengths) most = std::max(most, count);
  for (const auto& [length, count] : lengths) {
    out += fmt::format("  up to {:>9} tokens {:>10} {} {}\n", with_commas(length), with_commas(count), what,
                       std::string(static_cast<size_t>(count * 40 / most), '#'));
  }
  return out;
}

std::string to_text(const TokenReport& report) {
  std::string out = fmt::format(
      "{} records, {} bytes, {} tokens ({:.2f} bytes a token), {} unknown\n{} of {} ids occur; {} to {} tokens a "
      "record\n",
      with_commas(report.records), with_commas(report.bytes), with_commas(report.tokens), report.bytes_per_token(),
      with_commas(report.unknown), with_commas(report.distinct), with_commas(report.vocab_size), report.shortest,
      report.longest);
  return out + length_bars(report.lengths, "records");
}

std::string to_json(const TokenReport& report) {
  nlohmann::json lengths = nlohmann::json::object();
  for (const auto& [length, records] : report.lengths) lengths[std::to_string(length)] = records;
  return dump({{"records", report.records},
               {"bytes", report.bytes},
               {"tokens", report.tokens},
               {"unknown", report.unknown},
               {"distinct", report.distinct},
               {"vocab_size", report.vocab_size},
               {"shortest", report.shortest},
               {"longest", report.longest},
               {"bytes_per_token", report.bytes_per_token()},
               {"lengths", lengths}});
}

}  // namespace pax::data
