#include "pax/serving/text_stream.h"

#include <algorithm>

#include "pax/base/text.h"

namespace pax {
namespace {

constexpr std::string_view kUnknown = "\xEF\xBF\xBD";
constexpr size_t kContextIds = 6;
/// Tokens of one character at most.
constexpr size_t kMaxPending = 6;

size_t sequence_length(unsigned char first) {
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first < 0xE0) return 2;
  if (first >= 0xE0 && first < 0xF0) return 3;
  if (first >= 0xF0 && first < 0xF5) return 4;
  return 0;
}

/// Whether `text` ends in the middle of a character.
bool ends_within_character(std::string_view text) {
  for (size_t back = 1; back <= std::min<size_t>(3, text.size()); ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if ((byte & 0xC0) == 0x80) continue;
    return sequence_length(byte) > back;
  }
  return false;
}

}  // namespace

std::string repaired_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    const size_t length = sequence_length(static_cast<unsigned char>(text[i]));
    const std::string_view character = text.substr(i, std::max<size_t>(length, 1));
    if (length > 0 && character.size() == length && is_utf8(character)) {
      out += character;
      i += length;
    } else {
      out += kUnknown;
      ++i;
    }
  }
  return out;
}

TextStream::TextStream(const data::Tokenizer& tokenizer, std::span<const int32_t> prompt, std::vector<std::string> stop)
    : tokenizer_(tokenizer), stop_(std::move(stop)) {
  const size_t context = std::min(kContextIds, prompt.size());
  ids_.assign(prompt.end() - static_cast<int64_t>(context), prompt.end());
  read_ = ids_.size();
}

std::string TextStream::push(int32_t id) {
  if (stopped_) return {};
  ids_.push_back(id);
  const std::span<const int32_t> ids(ids_);
  const std::string before = tokenizer_.decode(ids.subspan(context_, read_ - context_));
  const std::string now = tokenizer_.decode(ids.subspan(context_));
  const bool whole = !ends_within_character(now) && !now.ends_with(kUnknown);
  if (!whole && ids_.size() - read_ < kMaxPending) return {};
  if (now.size() > before.size()) held_ += repaired_utf8(std::string_view(now).substr(before.size()));
  context_ = read_;
  read_ = ids_.size();
  return release(false);
}

std::string TextStream::finish() {
  if (!stopped_ && read_ < ids_.size()) {
    const std::span<const int32_t> ids(ids_);
    const size_t before = tokenizer_.decode(ids.subspan(context_, read_ - context_)).size();
    const std::string now = tokenizer_.decode(ids.subspan(context_));
    if (now.size() > before) held_ += repaired_utf8(std::string_view(now).substr(before));
    read_ = ids_.size();
  }
  return release(true);
}

std::string TextStream::release(bool all) {
  size_t end = std::string::npos;
  for (const std::string& stop : stop_) {
    if (!stop.empty()) end = std::min(end, held_.find(stop));
  }
  if (end != std::string::npos) {
    stopped_ = true;
    std::string out = held_.substr(0, end);
    held_.clear();
    return out;
  }
  size_t keep = 0;  // The longest end of the text that begins a stop text.
  if (!all) {
    for (const std::string& stop : stop_) {
      for (size_t n = std::min(stop.size(), held_.size() + 1); n-- > keep + 1;) {
        if (std::string_view(held_).ends_with(std::string_view(stop).substr(0, n))) {
          keep = n;
          break;
        }
      }
    }
  }
  std::string out = held_.substr(0, held_.size() - keep);
  held_.erase(0, held_.size() - keep);
  return out;
}

}  // namespace pax
