#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "pax/metrics/append_file.h"

namespace pax {

/// A value in metrics.jsonl. Doubles that are not finite are written as null.
using JsonScalar = std::variant<int64_t, double, std::string>;

/// Fields of one line, in the order in which they are written.
using JsonFields = std::vector<std::pair<std::string, JsonScalar>>;

/// "{"step": 3, "loss": 1.5}"
std::string to_json(const JsonFields& fields);

/// `metrics.jsonl`: one JSON object a line, one line a step, written by its own thread (AppendFile).
class JsonLinesWriter {
 public:
  /// Goes on after the lines there are. With `resume_step`, drops the lines of later steps and a line that was cut
  /// short, so that each step stays on one line after a restart.
  explicit JsonLinesWriter(const std::filesystem::path& path, std::optional<int64_t> resume_step = std::nullopt);

  /// `fields` after {"step": step}.
  void write(int64_t step, const JsonFields& fields);
  void close() { file_.close(); }

 private:
  AppendFile file_;
};

}  // namespace pax
