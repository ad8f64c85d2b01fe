#include <algorithm>
#include <array>

#include "pax/base/error.h"
#include "pax/base/text.h"
#include "pax/data/inspect.h"
#include "pax/data/token_rows.h"
#include "pax/data/unicode.h"

namespace pax::data {
namespace {

constexpr std::array<std::string_view, 6> kTerminalColours{"36", "33", "35", "32", "34", "31"};

/// `text` in colour number `colour`; dim when it carries no weight.
std::string painted(std::string_view text, size_t colour, bool dim, Style style) {
  switch (style) {
    case Style::kColour:
      return fmt::format("\x1b[{}{}m{}\x1b[0m", dim ? "2;" : "", kTerminalColours[colour % kTerminalColours.size()],
                         text);
    case Style::kHtml:
      return fmt::format("<span class=\"s{}{}\">{}</span>", colour % 6, dim ? " none" : "", escape_html(text));
    case Style::kPlain:
      break;
  }
  return dim ? fmt::format("({})", text) : std::string(text);
}

/// Text of ids; bos, eos and pad by their names where decoding leaves them out.
std::string text_of(std::span<const int32_t> ids, const Tokenizer* tokenizer) {
  std::string out;
  if (tokenizer == nullptr) {
    for (const int32_t id : ids) out += fmt::format("{}{}", out.empty() ? "" : " ", id);
    return out;
  }
  const SpecialIds special = tokenizer->special_ids();
  size_t start = 0;
  for (size_t i = 0; i < ids.size(); ++i) {
    const bool has_role = ids[i] == special.bos || ids[i] == special.eos || ids[i] == special.pad;
    if (!has_role || !tokenizer->decode_with_specials(ids.subspan(i, 1)).empty()) continue;
    out += visible(tokenizer->decode_with_specials(ids.subspan(start, i - start))) + visible(tokenizer->piece(ids[i]));
    start = i + 1;
  }
  return out + visible(tokenizer->decode_with_specials(ids.subspan(start)));
}

/// One row: runs of positions with equal segment and weight, each painted.
std::string show_row(const TokenRow& row, const Tokenizer* tokenizer, Style style) {
  std::string line;
  size_t padding = 0;
  for (size_t start = 0; start < row.ids.size();) {
    size_t end = start;
    while (end < row.ids.size() && row.same_run(start, end)) ++end;
    const int32_t segment = row.segment(start);
    if (segment == 0) {
      padding += end - start;
    } else {
      if (start > 0 && segment != row.segment(start - 1)) line += " | ";
      line += painted(text_of(row.ids.subspan(start, end - start), tokenizer), static_cast<size_t>(segment - 1),
                      row.weight(start) == 0, style);
    }
    start = end;
  }
  if (padding > 0) line += fmt::format(" [{} padding]", padding);
  return line;
}

/// A token of a row on a page: hovering over it tells all there is to know.
std::string html_token(const TokenRow& row, size_t at, const Tokenizer* tokenizer) {
  const int32_t id = row.ids[at];
  const int32_t segment = row.segment(at);
  const std::string piece =
      tokenizer != nullptr ? visible(tokenizer->decode_with_specials(row.ids.subspan(at, 1))) : "";
  const std::string name = tokenizer != nullptr ? visible(tokenizer->piece(id)) : "";
  const std::string shown = piece.empty() ? (name.empty() ? std::to_string(id) : name) : piece;
  return fmt::format("<span class=\"s{}{}\" title=\"{} id {}, place {}, segment {}, weight {}\">{}</span>",
                     (segment - 1) % 6, row.weight(at) == 0 ? " none" : "", escape_html(name), id, at, segment,
                     row.weight(at), escape_html(shown));
}

std::string html_row(const TokenRow& row, const Tokenizer* tokenizer) {
  std::string line;
  size_t padding = 0;
  for (size_t at = 0; at < row.ids.size(); ++at) {
    if (row.segment(at) == 0) {
      ++padding;
      continue;
    }
    if (at > 0 && row.segment(at - 1) != row.segment(at)) line += "<wbr><b class=\"cut\"></b>";
    line += html_token(row, at, tokenizer);
  }
  if (padding > 0) line += fmt::format(" <span class=\"pad\">{} padding</span>", padding);
  return line;
}

std::string fill_line(const TokenRows& rows) {
  int64_t slots = 0, tokens = 0, segments = 0;
  double weight = 0;
  for (size_t r = 0; r < rows.count(); ++r) {
    const TokenRow row = rows.row(r);
    slots += static_cast<int64_t>(row.ids.size());
    for (size_t at = 0; at < row.ids.size(); ++at) {
      tokens += row.segment(at) != 0 ? 1 : 0;
      weight += row.weight(at);
      segments += row.segment(at) != 0 && (at == 0 || row.segment(at - 1) != row.segment(at)) ? 1 : 0;
    }
  }
  return fmt::format(
      "{} tokens in {} slots ({:.1f} % real), weight {:g}, {} segments", with_commas(tokens), with_commas(slots),
      slots == 0 ? 0.0 : 100.0 * static_cast<double>(tokens) / static_cast<double>(slots), weight, segments);
}

std::string html_batch(const HostTree& batch, const Tokenizer* tokenizer) {
  std::string out = "<details><summary>fields</summary><table>\n";
  for (const auto& [name, array] : batch) {
    out += fmt::format("<tr><td>{}</td><td>{}</td></tr>\n", escape_html(name), escape_html(to_string(array.type())));
  }
  out += "</table></details>\n";
  for (const TokenRows& rows : token_rows(batch)) {
    out += fmt::format("<p>{}{}</p>\n<ol start=\"0\">\n", escape_html(rows.prefix), fill_line(rows));
    for (size_t r = 0; r < rows.count(); ++r) out += fmt::format("<li>{}</li>\n", html_row(rows.row(r), tokenizer));
    out += "</ol>\n";
  }
  return out;
}

}  // namespace

std::string show_tokens(const Tokenizer& tokenizer, const std::string& text, Style style) {
  const std::vector<int32_t> ids = tokenizer.encode(text);
  const std::vector<std::string> pieces = tokenizer.encode_pieces(text);
  std::string out;
  for (size_t i = 0; i < ids.size(); ++i) {
    const std::string piece = i < pieces.size() ? pieces[i] : tokenizer.piece(ids[i]);
    out += painted(visible(piece), i, false, style) + fmt::format(" {}", ids[i]) +
           (style == Style::kHtml ? "<br>\n" : "\n");
  }
  const std::string back = tokenizer.decode_with_specials(ids);
  out += fmt::format("{} tokens; decodes {}\n", ids.size(),
                     back == text ? std::string("to the same text") : fmt::format("to \"{}\"", visible(back)));
  return out;
}

std::string show_batch(const HostTree& batch, const Tokenizer* tokenizer, Style style) {
  if (style == Style::kHtml) return html_batch(batch, tokenizer);
  std::string out;
  for (const auto& [name, array] : batch) out += fmt::format("  {:<20} {}\n", name, to_string(array.type()));
  for (const TokenRows& rows : token_rows(batch)) {
    out += fmt::format("{}{}\n", rows.prefix.empty() ? "" : rows.prefix + " ", fill_line(rows));
    for (size_t r = 0; r < rows.count(); ++r) {
      out += fmt::format("{:>4}  {}\n", r, show_row(rows.row(r), tokenizer, style));
    }
  }
  return out;
}

std::string html_page(const std::string& title, const std::string& body) {
  constexpr std::string_view kStyle =
      ":root{color-scheme:light dark}body{font:14px/1.7 ui-monospace,monospace;max-width:110ch;margin:2em auto;"
      "padding:0 1em;background:light-dark(#fff,#16181c);color:light-dark(#222,#ddd)}h1,h2{font:600 1.2em sans-serif}"
      "li{margin:.5em 0;overflow-wrap:anywhere;white-space:pre-wrap}li::marker{color:gray}td{padding:0 1em 0 0}"
      "span[class^=s]{border-radius:2px}span[class^=s]:hover{outline:1px solid}.none{opacity:.45;font-style:italic}"
      ".pad{color:gray;border:1px dashed gray;padding:0 .5em}.cut{border-left:2px solid gray;margin:0 .5em}"
      ".s0{background:light-dark(#d6ecf2,#12404c)}.s1{background:light-dark(#f6e7c8,#4f3b0c)}"
      ".s2{background:light-dark(#ecd9f2,#45204f)}.s3{background:light-dark(#d8efdc,#17431f)}"
      ".s4{background:light-dark(#dbe4f7,#1b2f5c)}.s5{background:light-dark(#f8dcdc,#581f1f)}";
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{0}</title><style>{1}</style></head>"
      "<body>\n<h1>{0}</h1>\n<p>Each colour is a segment; faint text carries no weight; hover over a token to see its "
      "id, place, segment and weight.</p>\n{2}</body></html>\n",
      escape_html(title), kStyle, body);
}

}  // namespace pax::data
