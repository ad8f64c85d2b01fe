#include "pax/data/added_tokens.h"

#include <algorithm>

#include "pax/data/unicode.h"

namespace pax::data {
namespace {

/// Where the character that ends at `at` begins.
size_t before(std::string_view text, size_t at) {
  size_t start = at - 1;
  while (start > 0 && at - start < 4 && (static_cast<uint8_t>(text[start]) & 0xC0) == 0x80) --start;
  return start;
}

bool stands_alone(std::string_view text, size_t begin, size_t end) {
  if (begin > 0 && is_word_character(utf8_at(text, before(text, begin)).code_point)) return false;
  return end == text.size() || !is_word_character(utf8_at(text, end).code_point);
}

}  // namespace

AddedTokenFinder::AddedTokenFinder(std::vector<AddedToken> tokens) : tokens_(std::move(tokens)) {
  std::erase_if(tokens_, [](const AddedToken& token) { return token.content.empty(); });
  for (size_t i = 0; i < tokens_.size(); ++i) {
    by_first_byte_[static_cast<uint8_t>(tokens_[i].content.front())].push_back(static_cast<uint32_t>(i));
  }
  for (auto& list : by_first_byte_) {
    std::ranges::stable_sort(
        list, [&](uint32_t a, uint32_t b) { return tokens_[a].content.size() > tokens_[b].content.size(); });
  }
}

const AddedToken* AddedTokenFinder::longest_at(std::string_view text, size_t at) const {
  for (const uint32_t i : by_first_byte_[static_cast<uint8_t>(text[at])]) {
    if (text.substr(at).starts_with(tokens_[i].content)) return &tokens_[i];
  }
  return nullptr;
}

void AddedTokenFinder::split(std::string_view text, std::vector<Part>& parts) const {
  size_t done = 0;
  for (size_t at = 0; at < text.size() && !tokens_.empty();) {
    const AddedToken* token = longest_at(text, at);
    if (token == nullptr) {
      ++at;
      continue;
    }
    size_t begin = at;
    size_t end = at + token->content.size();
    at = end;
    if (token->single_word && !stands_alone(text, begin, end)) continue;
    while (token->lstrip && begin > done && is_white_space(utf8_at(text, before(text, begin)).code_point)) {
      begin = before(text, begin);
    }
    begin = std::max(begin, done);
    while (token->rstrip && end < text.size() && is_white_space(utf8_at(text, end).code_point)) {
      end += utf8_at(text, end).length;
    }
    if (begin > done) parts.push_back({text.substr(done, begin - done), nullptr});
    parts.push_back({text.substr(begin, end - begin), token});
    done = end;
  }
  if (done < text.size()) parts.push_back({text.substr(done), nullptr});
}

}  // namespace pax::data
