#include "pax/base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace pax {

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string join(std::span<const std::string> parts, std::string_view separator) {
  std::string out;
  for (const std::string& part : parts) {
    if (&part != parts.data()) out += separator;
    out += part;
  }
  return out;
}

std::string join(std::span<const int64_t> numbers, std::string_view separator) {
  return fmt::format("{}", fmt::join(numbers.begin(), numbers.end(), separator));
}

std::string join_path(std::string_view left, std::string_view right) {
  if (left.empty()) return std::string(right);
  if (right.empty()) return std::string(left);
  return fmt::format("{}/{}", left, right);
}

namespace {

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row.back();
}

/// As edit_distance, but a word that is only the beginning of the candidate ("sav_interval" of "save_interval_steps")
/// is nearer than its missing end says.
size_t slip_distance(std::string_view word, std::string_view candidate) {
  const size_t whole = edit_distance(word, candidate);
  if (candidate.size() <= word.size() || word.size() < 4) return whole;
  return std::min({whole, edit_distance(word, candidate.substr(0, word.size())) + 1,
                   edit_distance(word, candidate.substr(0, word.size() + 1)) + 1});
}

}  // namespace

std::optional<std::string> nearest_name(std::string_view word, std::span<const std::string> candidates) {
  const std::string* best = nullptr;
  size_t best_distance = std::max<size_t>(2, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    if (candidate.size() + best_distance <= word.size()) continue;
    const size_t distance = slip_distance(word, candidate);
    if (distance < best_distance) {
      best = &candidate;
      best_distance = distance;
    }
  }
  if (best == nullptr) return std::nullopt;
  return *best;
}

std::string did_you_mean(std::string_view word, std::span<const std::string> candidates) {
  const auto name = nearest_name(word, candidates);
  return name ? fmt::format(" Did you mean \"{}\"?", *name) : "";
}

std::string with_commas(int64_t number) {
  std::string digits = fmt::format("{}", number);
  const int first = number < 0 ? 1 : 0;
  for (int at = static_cast<int>(digits.size()) - 3; at > first; at -= 3) digits.insert(at, ",");
  return digits;
}

std::string human_bytes(uint64_t bytes) {
  static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  double value = static_cast<double>(bytes);
  int unit = 0;
  while (value >= 1024 && unit < 5) {
    value /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::string json_quote(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
        } else {
          out += c;
        }
    }
  }
  return out + "\"";
}

bool is_utf8(std::string_view text) {
  const auto* s = reinterpret_cast<const unsigned char*>(text.data());
  const size_t n = text.size();
  for (size_t i = 0; i < n;) {
    const unsigned char c = s[i];
    if (c < 0x80) {
      ++i;
      continue;
    }
    const int extra = c >= 0xF0 ? 3 : c >= 0xE0 ? 2 : 1;
    if (c < 0xC2 || c > 0xF4) return false;
    for (int k = 1; k <= extra; ++k) {
      if (i + k >= n || (s[i + k] & 0xC0) != 0x80) return false;
    }
    if (c == 0xE0 && s[i + 1] < 0xA0) return false;
    if (c == 0xED && s[i + 1] > 0x9F) return false;
    if (c == 0xF0 && s[i + 1] < 0x90) return false;
    if (c == 0xF4 && s[i + 1] > 0x8F) return false;
    i += extra + 1;
  }
  return true;
}

std::string exact_double(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char buffer[32];
  const auto [end, ec] = std::to_chars(buffer, buffer + sizeof(buffer), value);
  std::string text(buffer, end);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

}  // namespace pax
