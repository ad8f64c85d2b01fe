#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pax {

std::vector<std::string> split(std::string_view text, char separator);
std::string join(std::span<const std::string> parts, std::string_view separator);

/// "8,128,512"
std::string join(std::span<const int64_t> numbers, std::string_view separator);

/// `left/right`, or the one that is not empty.
std::string join_path(std::string_view left, std::string_view right);

/// The candidate nearest to `word` by edit distance, if any is near enough to be a likely slip of the pen.
std::optional<std::string> nearest_name(std::string_view word, std::span<const std::string> candidates);

/// " Did you mean \"model_dims\"?" or "" when nothing is near.
std::string did_you_mean(std::string_view word, std::span<const std::string> candidates);

/// 1234567 as "1,234,567".
std::string with_commas(int64_t number);

/// 1536 as "1.5 KiB".
std::string human_bytes(uint64_t bytes);

/// Quotes and escapes `text` as a JSON string.
std::string json_quote(std::string_view text);

/// True if `text` is well-formed UTF-8 (no surrogates, no overlong forms).
bool is_utf8(std::string_view text);

/// The shortest text that reads back as the same double; always with '.' or exponent ("1.0", "1e-06", "inf").
std::string exact_double(double value);

}  // namespace pax
