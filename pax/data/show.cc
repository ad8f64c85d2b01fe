#include <algorithm>
#include <array>

#include "pax/base/error.h"
#include "pax/data/inspect.h"
#include "pax/data/unicode.h"

namespace pax::data {
namespace {

struct Colour {
  std::string_view terminal;  ///< SGR parameters
  std::string_view html;
};
constexpr std::array<Colour, 6> kColours{
    {{"36", "#0b7285"}, {"33", "#a06a00"}, {"35", "#862e9c"}, {"32", "#2b8a3e"}, {"34", "#1864ab"}, {"31", "#c92a2a"}}};

/// Text that may hold any bytes, on one line.
std::string visible(std::string_view text) {
  std::string out;
  for (const char c : repair_utf8(text)) {
    if (c == '\n') {
      out += "\xE2\x8F\x8E";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      out.push_back(c);
    }
  }
  return out;
}

std::string escape_html(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else {
      out.push_back(c);
    }
  }
  return out;
}

enum class Weight { kFull, kNone };

/// `text` in colour number `colour`; dim when it carries no weight.
std::string painted(std::string_view text, size_t colour, Weight weight, Style style) {
  const Colour& paint = kColours[colour % kColours.size()];
  const bool dim = weight == Weight::kNone;
  if (style == Style::kColour) return fmt::format("\x1b[{}{}m{}\x1b[0m", dim ? "2;" : "", paint.terminal, text);
  if (style == Style::kHtml) {
    return fmt::format("<span style=\"color:{}{}\">{}</span>", paint.html, dim ? ";opacity:.45" : "",
                       escape_html(text));
  }
  return dim ? fmt::format("({})", text) : std::string(text);
}

std::string text_of(std::span<const int32_t> ids, const Tokenizer* tokenizer) {
  if (tokenizer != nullptr) return visible(tokenizer->decode_with_specials(ids));
  std::string out;
  for (const int32_t id : ids) out += fmt::format("{} ", id);
  return out;
}

/// One row: runs of positions with equal segment and weight, each painted.
std::string show_row(const HostTree& batch, size_t row, const Tokenizer* tokenizer, Style style) {
  const HostArray& labels = batch.at("labels");
  const auto width = static_cast<size_t>(labels.shape()[1]);
  const auto ids = labels.values<int32_t>().subspan(row * width, width);
  const auto weights = batch.at("weights").values<float>().subspan(row * width, width);
  const auto segments = batch.at("segment_ids").values<int32_t>().subspan(row * width, width);
  std::string line;
  size_t padding = 0;
  for (size_t start = 0; start < width;) {
    size_t end = start;
    while (end < width && segments[end] == segments[start] && (weights[end] != 0) == (weights[start] != 0)) ++end;
    if (segments[start] == 0) {
      padding += end - start;
    } else {
      if (start > 0 && segments[start] != segments[start - 1]) line += style == Style::kHtml ? " &#9474; " : " | ";
      line += painted(text_of(ids.subspan(start, end - start), tokenizer), static_cast<size_t>(segments[start] - 1),
                      weights[start] != 0 ? Weight::kFull : Weight::kNone, style);
    }
    start = end;
  }
  if (padding > 0) line += fmt::format(" [{} padding]", padding);
  return line;
}

bool is_lm_batch(const HostTree& batch) {
  for (const char* field : {"labels", "weights", "segment_ids"}) {
    if (!batch.contains(field) || batch.at(field).shape().rank() != 2) return false;
  }
  return true;
}

}  // namespace

std::string show_tokens(const Tokenizer& tokenizer, const std::string& text, Style style) {
  const std::vector<int32_t> ids = tokenizer.encode(text);
  const std::vector<std::string> pieces = tokenizer.encode_pieces(text);
  std::string out;
  for (size_t i = 0; i < ids.size(); ++i) {
    const std::string piece = i < pieces.size() ? pieces[i] : tokenizer.piece(ids[i]);
    out += painted(visible(piece), i, Weight::kFull, style) + fmt::format(" {}", ids[i]) +
           (style == Style::kHtml ? "<br>\n" : "\n");
  }
  const std::string back = tokenizer.decode_with_specials(ids);
  out += fmt::format("{} tokens; decodes {}\n", ids.size(),
                     back == text ? std::string("to the same text") : fmt::format("to \"{}\"", visible(back)));
  return out;
}

std::string show_batch(const HostTree& batch, const Tokenizer* tokenizer, Style style) {
  const bool html = style == Style::kHtml;
  const std::string line_end = html ? "<br>\n" : "\n";
  std::string out = html ? "<!doctype html><meta charset=\"utf-8\"><body style=\"font-family:monospace\">\n" : "";
  for (const auto& [name, array] : batch) out += fmt::format("{} {}{}", name, to_string(array.type()), line_end);
  const TokenCount count = count_tokens(batch);
  out +=
      fmt::format("{} tokens in {} slots ({:.1f} % real), weight {:.0f}, {} segments{}", count.tokens, count.slots,
                  count.slots == 0 ? 0.0 : 100.0 * static_cast<double>(count.tokens) / static_cast<double>(count.slots),
                  count.weight, count.segments, line_end);
  if (!is_lm_batch(batch)) return out;
  const auto rows = static_cast<size_t>(batch.at("labels").shape()[0]);
  for (size_t row = 0; row < rows; ++row) {
    out += fmt::format("{:>3}: ", row) + show_row(batch, row, tokenizer, style) + line_end;
  }
  return out;
}

}  // namespace pax::data
