#include "pax/metrics/json_lines.h"

#include <charconv>
#include <cmath>

#include "pax/base/files.h"
#include "pax/base/text.h"

namespace pax {
namespace {

constexpr std::string_view kStepPrefix = "{\"step\": ";

std::string to_json(const JsonScalar& value) {
  if (const auto* whole = std::get_if<int64_t>(&value)) return std::to_string(*whole);
  if (const auto* text = std::get_if<std::string>(&value)) return json_quote(*text);
  const double number = std::get<double>(value);
  return std::isfinite(number) ? exact_double(number) : "null";
}

/// The step that a whole line of ours begins with.
std::optional<int64_t> step_of(std::string_view line) {
  if (!line.starts_with(kStepPrefix) || !line.ends_with("}")) return std::nullopt;
  line.remove_prefix(kStepPrefix.size());
  int64_t step = 0;
  const auto parsed = std::from_chars(line.data(), line.data() + line.size(), step);
  return parsed.ec == std::errc() ? std::optional(step) : std::nullopt;
}

/// Rewrites the file without the lines after `step`. A file that needs no change is left alone.
const std::filesystem::path& drop_lines_after(const std::filesystem::path& path, std::optional<int64_t> step) {
  if (!step || !std::filesystem::exists(path)) return path;
  const std::string all = read_file(path);
  std::string kept;
  for (size_t begin = 0; begin < all.size();) {
    const size_t end = std::min(all.find('\n', begin), all.size());
    const std::string_view line = std::string_view(all).substr(begin, end - begin);
    const std::optional<int64_t> line_step = step_of(line);
    if (end < all.size() && line_step && *line_step <= *step) kept.append(line).append("\n");
    begin = end + 1;
  }
  if (kept != all) write_file_atomically(path, kept);
  return path;
}

}  // namespace

std::string to_json(const JsonFields& fields) {
  std::string text = "{";
  for (const auto& [name, value] : fields) {
    if (text.size() > 1) text += ", ";
    text += json_quote(name) + ": " + to_json(value);
  }
  return text + "}";
}

JsonLinesWriter::JsonLinesWriter(const std::filesystem::path& path, std::optional<int64_t> resume_step)
    : file_(drop_lines_after(path, resume_step)) {}

void JsonLinesWriter::write(int64_t step, const JsonFields& fields) {
  JsonFields line = {{"step", step}};
  line.insert(line.end(), fields.begin(), fields.end());
  file_.append(to_json(line) + "\n");
}

}  // namespace pax
