#include "tests/golden/input_cases.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "pax/base/error.h"
#include "pax/base/files.h"
#include "pax/data/data_source.h"

namespace pax::data {
namespace {

using nlohmann::json;

/// What `expected.json` says of a file, from its words: "documents 0-15", "records 0-9 read, record 10 must be an
/// error".
struct Expectation {
  int64_t documents = 0;
  std::optional<int64_t> bad_record;
};

Expectation expectation_of(const std::string& words, int64_t all) {
  Expectation expected{all, std::nullopt};
  long first = 0, last = 0, bad = 0;
  if (const size_t at = words.find("documents "); at != std::string::npos) {
    if (std::sscanf(words.c_str() + at, "documents %ld-%ld", &first, &last) == 2) expected.documents = last + 1;
  }
  if (const size_t at = words.find("records "); at != std::string::npos) {
    if (std::sscanf(words.c_str() + at, "records %ld-%ld read, record %ld must be an error", &first, &last, &bad) ==
        3) {
      expected.documents = last + 1;
      expected.bad_record = bad;
    }
  }
  return expected;
}

/// An empty list may be of any type.
bool is_empty(const Feature* feature) {
  return feature == nullptr || std::visit([](const auto& list) { return list.empty(); }, *feature);
}

/// What differs between `example` and the document; empty when nothing does.
std::string difference(const Example& example, const json& document) {
  for (const auto& [name, value] : document.items()) {
    const Feature* feature = example.find(name);
    if (value.is_null() || (value.is_array() && value.empty())) {
      if (!is_empty(feature)) return fmt::format("field {} should be null or empty", name);
      continue;
    }
    if (feature == nullptr) return fmt::format("field {} is missing", name);
    bool equal = false;
    if (value.is_string()) equal = *feature == Feature(Strings{value.get<std::string>()});
    if (value.is_array()) equal = *feature == Feature(value.get<Ints>());
    if (value.is_number_integer()) equal = *feature == Feature(Ints{value.get<int64_t>()});
    if (value.is_number_float()) {
      const auto* floats = std::get_if<Floats>(feature);
      equal = floats != nullptr && *floats == Floats{value.get<float>()};
      // JSON may spell a whole float as an integer.
      const auto* ints = std::get_if<Ints>(feature);
      equal =
          equal || (ints != nullptr && ints->size() == 1 && static_cast<float>(ints->front()) == value.get<float>());
    }
    if (!equal) return fmt::format("field {} differs from {}", name, value.dump());
  }
  return "";
}

std::string check_file(const std::filesystem::path& path, const Expectation& expected, const json& documents) {
  const std::unique_ptr<ExampleFile> file = open_examples(path, format_of(path));
  if (!expected.bad_record && file->size() != expected.documents) {
    return fmt::format("{} records, {} expected", file->size(), expected.documents);
  }
  // Backwards as well: access is by number.
  for (int64_t step = 0; step < 2 * expected.documents; ++step) {
    const int64_t i = step < expected.documents ? step : 2 * expected.documents - 1 - step;
    const std::string differs = difference(file->at(i), documents.at(static_cast<size_t>(i)));
    if (!differs.empty()) return fmt::format("record {}: {}", i, differs);
  }
  if (!expected.bad_record) {
    file->require_whole();
    return "";
  }
  try {
    file->at(*expected.bad_record);
  } catch (const RuntimeError& error) {
    const std::string named = fmt::format("record {}", *expected.bad_record);
    return std::string(error.what()).find(named) == std::string::npos
               ? fmt::format("the error does not name {}: {}", named, error.what())
               : "";
  }
  return fmt::format("record {} was read, an error was expected", *expected.bad_record);
}

}  // namespace

std::vector<GoldenResult> check_golden_input(const std::filesystem::path& dir) {
  std::vector<GoldenResult> results;
  const json expected = json::parse(read_file(dir / "expected.json"));
  const json& documents = expected.at("documents");
  for (const auto& [name, words] : expected.at("files").items()) {
    GoldenResult result{.name = fmt::format("input/{}", name)};
    try {
      const Expectation what = expectation_of(words.get<std::string>(), static_cast<int64_t>(documents.size()));
      result.message = check_file(dir / name, what, documents);
    } catch (const std::exception& error) {
      result.message = error.what();
    }
    result.ok = result.message.empty();
    results.push_back(std::move(result));
  }
  return results;
}

}  // namespace pax::data
