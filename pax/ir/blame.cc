#include "pax/ir/blame.h"

#include <charconv>
#include <optional>

namespace pax {
namespace {

constexpr auto kNone = std::string_view::npos;

/// The text between `open` and `close`, from `from` on.
std::optional<std::string_view> between(std::string_view text, std::string_view open, std::string_view close,
                                        size_t from = 0) {
  const size_t begin = text.find(open, from);
  if (begin == kNone) return std::nullopt;
  const size_t first = begin + open.size();
  const size_t end = text.find(close, first);
  if (end == kNone) return std::nullopt;
  return text.substr(first, end - first);
}

/// The line that holds offset `at`.
std::string_view line_at(std::string_view text, size_t at) {
  const size_t before = text.rfind('\n', at);
  const size_t begin = before == kNone ? 0 : before + 1;
  return text.substr(begin, text.find('\n', begin) - begin);
}

/// The path of the op at offset `at` and its name. An op with regions has its location after them.
std::string op_at(std::string_view text, size_t at) {
  const size_t mark = text.find(" loc(#", at);
  if (mark == kNone) return {};
  const auto number = between(text, " loc(", ")", mark);
  const auto path = between(text, std::string("\n").append(*number).append(" = loc(\""), "\")", mark);
  if (!path) return {};
  const std::string_view line = line_at(text, at);
  const auto op = between(line, "= \"", "\"(");
  return std::string(*path) + (op ? ": " + std::string(*op) : "");
}

/// Parsers say `-:LINE:COLUMN: error`.
std::string by_line_number(std::string_view message, std::string_view text) {
  for (size_t at = message.find("-:"); at != kNone; at = message.find("-:", at + 1)) {
    size_t line = 0;
    const char* first = message.data() + at + 2;
    const auto [rest, error] = std::from_chars(first, message.data() + message.size(), line);
    if (error != std::errc() || line == 0 || rest == message.data() + message.size() || *rest != ':') continue;
    size_t offset = 0;
    for (; line > 1 && offset != kNone; --line) offset = text.find('\n', offset + (offset > 0 ? 1 : 0));
    if (offset == kNone) continue;
    if (std::string found = op_at(text, offset == 0 ? 0 : offset + 1); !found.empty()) return found;
  }
  return {};
}

std::string by_called_function(std::string_view message, std::string_view text) {
  constexpr std::string_view kTarget = "call_target_name = \"";
  for (size_t at = text.find(kTarget); at != kNone; at = text.find(kTarget, at + 1)) {
    const auto target = between(text, kTarget, "\"", at);
    if (target && message.find(*target) != kNone) return op_at(text, at);
  }
  return {};
}

}  // namespace

std::string blamed_layer(std::string_view message, std::string_view stablehlo) {
  for (const std::string_view open : {"loc(\"", "op_name=\""}) {
    if (const auto path = between(message, open, "\""); path && !path->empty()) return std::string(*path);
  }
  if (std::string found = by_line_number(message, stablehlo); !found.empty()) return found;
  return by_called_function(message, stablehlo);
}

}  // namespace pax
