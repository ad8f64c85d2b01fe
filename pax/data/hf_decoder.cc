#include "pax/data/hf_decoder.h"

#include <array>
#include <functional>

#include "pax/base/text.h"
#include "pax/data/byte_spelling.h"
#include "pax/data/hf_json.h"
#include "pax/data/text_pattern.h"
#include "pax/data/unicode.h"

namespace pax::data {
namespace {

using nlohmann::json;
using Tokens = std::vector<std::string>;

class FunctionDecoder final : public HfDecoder {
 public:
  explicit FunctionDecoder(std::function<Tokens(Tokens)> function) : function_(std::move(function)) {}
  Tokens apply(Tokens tokens) const override { return function_(std::move(tokens)); }

 private:
  std::function<Tokens(Tokens)> function_;
};

std::unique_ptr<HfDecoder> function(std::function<Tokens(Tokens)> f) {
  return std::make_unique<FunctionDecoder>(std::move(f));
}

std::string replaced(const std::string& text, const std::string& from, const std::string& to) {
  return replace_matches(text, *make_text_pattern(from), to);
}

/// English spacing as BERT's tools write it.
std::string clean_up(std::string text) {
  constexpr std::array<std::pair<const char*, const char*>, 11> kRules{{{" .", "."},
                                                                        {" ?", "?"},
                                                                        {" !", "!"},
                                                                        {" ,", ","},
                                                                        {" ' ", "'"},
                                                                        {" n't", "n't"},
                                                                        {" 'm", "'m"},
                                                                        {" do not", " don't"},
                                                                        {" 's", "'s"},
                                                                        {" 've", "'ve"},
                                                                        {" 're", "'re"}}};
  for (const auto& [from, to] : kRules) text = replaced(text, from, to);
  return text;
}

std::unique_ptr<HfDecoder> word_piece(const json& node) {
  return function(
      [prefix = json_text_or(node, "prefix", "##"), cleans = json_flag(node, "cleanup", true)](Tokens tokens) {
        for (size_t i = 0; i < tokens.size(); ++i) {
          std::string& token = tokens[i];
          if (i > 0) token = token.starts_with(prefix) ? token.substr(prefix.size()) : " " + token;
          if (cleans) token = clean_up(std::move(token));
        }
        return tokens;
      });
}

std::unique_ptr<HfDecoder> metaspace(const json& node) {
  std::string scheme = json_text_or(node, "prepend_scheme", "always");
  if (!json_flag(node, "add_prefix_space", true) && !json_has(node, "prepend_scheme")) scheme = "never";
  return function([mark = json_text_or(node, "replacement", "\xE2\x96\x81"), drops = scheme != "never"](Tokens tokens) {
    for (size_t i = 0; i < tokens.size(); ++i) tokens[i] = replaced(tokens[i], mark, i == 0 && drops ? "" : " ");
    return tokens;
  });
}

std::unique_ptr<HfDecoder> bpe(const json& node) {
  return function([suffix = json_text_or(node, "suffix", "</w>")](Tokens tokens) {
    for (size_t i = 0; i < tokens.size(); ++i)
      tokens[i] = replaced(tokens[i], suffix, i + 1 == tokens.size() ? "" : " ");
    return tokens;
  });
}

Tokens byte_level(const Tokens& tokens) {
  std::string bytes;
  for (const std::string& token : tokens) bytes += spelled_bytes(token).value_or(token);
  return {repair_utf8(bytes)};
}

/// The byte of a token `<0x..>`.
std::optional<char> byte_of(const std::string& token) {
  if (token.size() != 6 || !token.starts_with("<0x") || token[5] != '>') return std::nullopt;
  int value = 0;
  for (const char c : {token[3], token[4]}) {
    const char low = static_cast<char>(c | 0x20);
    if (c >= '0' && c <= '9') {
      value = value * 16 + (c - '0');
    } else if (low >= 'a' && low <= 'f') {
      value = value * 16 + (low - 'a' + 10);
    } else {
      return std::nullopt;
    }
  }
  return static_cast<char>(value);
}

/// Runs of byte tokens become text; one U+FFFD for each byte of a run that is no UTF-8.
Tokens byte_fallback(const Tokens& tokens) {
  Tokens out;
  std::string bytes;
  const auto flush = [&] {
    if (bytes.empty()) return;
    if (repair_utf8(bytes) == bytes) {
      out.push_back(bytes);
    } else {
      out.insert(out.end(), bytes.size(), "\xEF\xBF\xBD");
    }
    bytes.clear();
  };
  for (const std::string& token : tokens) {
    if (const auto byte = byte_of(token)) {
      bytes.push_back(*byte);
      continue;
    }
    flush();
    out.push_back(token);
  }
  flush();
  return out;
}

/// Takes up to `start` and `stop` of `content` off the ends of each token.
std::unique_ptr<HfDecoder> strip(const json& node) {
  return function([content = json_text(node, "content"), start = json_number(node, "start", 0),
                   stop = json_number(node, "stop", 0)](Tokens tokens) {
    for (std::string& token : tokens) {
      if (content.empty()) break;
      for (int64_t i = 0; i < start && token.starts_with(content); ++i) token.erase(0, content.size());
      for (int64_t i = 0; i < stop && token.ends_with(content); ++i) token.resize(token.size() - content.size());
    }
    return tokens;
  });
}

std::unique_ptr<HfDecoder> ctc(const json& node) {
  return function([pad = json_text_or(node, "pad_token", "<pad>"),
                   space = json_text_or(node, "word_delimiter_token", "|"),
                   cleans = json_flag(node, "cleanup", true)](const Tokens& tokens) {
    Tokens out;
    for (size_t i = 0; i < tokens.size(); ++i) {
      if (i > 0 && tokens[i] == tokens[i - 1]) continue;
      std::string token = replaced(tokens[i], pad, "");
      if (cleans) token = replaced(clean_up(std::move(token)), space, " ");
      if (!token.empty()) out.push_back(std::move(token));
    }
    return out;
  });
}

std::unique_ptr<HfDecoder> replace(const json& node) {
  const json& pattern = json_member(node, "pattern");
  const bool regex = pattern.is_object() && pattern.contains("Regex");
  const std::shared_ptr<TextPattern> finder =
      regex ? make_regex_pattern(json_text(pattern, "Regex")) : make_text_pattern(json_text(pattern, "String"));
  return function([finder, content = json_text(node, "content")](Tokens tokens) {
    for (std::string& token : tokens) token = replace_matches(token, *finder, content);
    return tokens;
  });
}

std::unique_ptr<HfDecoder> sequence(const json& node, int depth) {
  std::vector<std::shared_ptr<HfDecoder>> steps;
  for (const json& child : json_list(node, "decoders")) steps.push_back(make_decoder(child, depth + 1));
  return function([steps](Tokens tokens) {
    for (const auto& step : steps) tokens = step->apply(std::move(tokens));
    return tokens;
  });
}

}  // namespace

std::unique_ptr<HfDecoder> make_decoder(const json& node, int depth) {
  if (depth > kMaxJsonDepth) fail<RuntimeError>("decoders are nested more than {} deep", kMaxJsonDepth);
  const std::string type = json_text(node, "type");
  if (type == "Sequence") return sequence(node, depth);
  if (type == "ByteLevel") return function(byte_level);
  if (type == "ByteFallback") return function(byte_fallback);
  if (type == "Fuse") return function([](const Tokens& tokens) { return Tokens{join(tokens, "")}; });
  if (type == "WordPiece") return word_piece(node);
  if (type == "Metaspace") return metaspace(node);
  if (type == "BPEDecoder") return bpe(node);
  if (type == "Strip") return strip(node);
  if (type == "Replace") return replace(node);
  if (type == "CTC") return ctc(node);
  fail<RuntimeError>("decoder {} is not supported", type);
}

}  // namespace pax::data
