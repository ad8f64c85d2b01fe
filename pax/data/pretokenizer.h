#pragma once

#include <memory>
#include <string_view>
#include <vector>

namespace pax::data {

/// Cuts text into the words that byte-pair merges do not cross.
class Pretokenizer {
 public:
  virtual ~Pretokenizer() = default;
  /// Appends the words of `text`; together they are `text`.
  virtual void split(std::string_view text, std::vector<std::string_view>& words) const = 0;
};

/// The patterns of GPT-2 and of Llama 3 as tokenizer.json files spell them.
extern const std::string_view kGpt2Pattern;
extern const std::string_view kLlama3Pattern;

/// Splits by `pattern`: matches and what lies between are words of their own. The two patterns above run as
/// hand-written scanners, others by `SplitRegex`. Throws ConfigError when a pattern is not understood.
std::unique_ptr<Pretokenizer> make_split_pretokenizer(std::string_view pattern);

/// The same by `SplitRegex` whatever the pattern: what the scanners are compared with.
std::unique_ptr<Pretokenizer> make_regex_pretokenizer(std::string_view pattern);

}  // namespace pax::data
