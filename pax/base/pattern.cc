#include "pax/base/pattern.h"

#include <re2/re2.h>

#include "pax/base/error.h"
#include "pax/base/text.h"

namespace pax {
namespace {

re2::StringPiece piece(std::string_view text) { return {text.data(), text.size()}; }

bool match(const RE2& pattern, std::string_view text, RE2::Anchor anchor) {
  return pattern.Match(piece(text), 0, text.size(), anchor, nullptr, 0);
}

}  // namespace

Pattern::Pattern(std::string_view pattern) {
  RE2::Options options;
  options.set_log_errors(false);
  auto compiled = std::make_shared<RE2>(piece(pattern), options);
  if (!compiled->ok()) {
    fail<ConfigError>("pattern {}: {}; RE2 syntax, without look-around and back references", json_quote(pattern),
                      compiled->error());
  }
  compiled_ = std::move(compiled);
}

bool Pattern::matches(std::string_view text) const { return match(*compiled_, text, RE2::ANCHOR_BOTH); }
bool Pattern::matches_start(std::string_view text) const { return match(*compiled_, text, RE2::ANCHOR_START); }
bool Pattern::occurs_in(std::string_view text) const { return match(*compiled_, text, RE2::UNANCHORED); }

}  // namespace pax
