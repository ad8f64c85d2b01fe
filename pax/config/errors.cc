#include "pax/config/errors.h"

#include "pax/base/error.h"
#include "pax/base/text.h"

namespace pax::config {

std::string join_config_path(std::string_view left, std::string_view right) {
  std::string out(left);
  if (!left.empty() && !right.empty() && right.front() != '[') out += '.';
  out += right;
  return out;
}

namespace {

constexpr size_t kMaxMessages = 100;
constexpr size_t kMaxMessageBytes = 2000;

/// The first `size` bytes, ending at the end of a character.
std::string shortened(std::string text, size_t size) {
  if (text.size() <= size) return text;
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xC0) == 0x80) --size;
  return text.substr(0, size) + "…";
}

}  // namespace

void Errors::add(std::string_view path, std::string_view message, int line) {
  if (++count_ > kMaxMessages) return;
  std::string text = join_config_path(prefix_, path);
  if (!text.empty()) text += ": ";
  text = shortened(text + std::string(message), kMaxMessageBytes);
  if (line > 0) text += fmt::format(" ({}:{})", source.empty() ? "line" : source, line);
  messages_.push_back(std::move(text));
}

void Errors::throw_if_any() const {
  if (empty()) return;
  std::string text = join(messages_, "\n");
  if (count_ > messages_.size()) text += fmt::format("\nand {} more", count_ - messages_.size());
  throw ConfigError(text);
}

Errors::Prefix::Prefix(Errors& errors, std::string_view path) : errors_(errors), before_(errors.prefix_) {
  errors_.prefix_ = join_config_path(before_, path);
}

}  // namespace pax::config
