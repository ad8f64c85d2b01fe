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

void Errors::add(std::string_view path, std::string_view message, int line) {
  std::string text = join_config_path(prefix_, path);
  if (!text.empty()) text += ": ";
  text += message;
  if (line > 0) text += fmt::format(" ({}:{})", source.empty() ? "line" : source, line);
  messages_.push_back(std::move(text));
}

void Errors::throw_if_any() const {
  if (!empty()) throw ConfigError(join(messages_, "\n"));
}

Errors::Prefix::Prefix(Errors& errors, std::string_view path) : errors_(errors), before_(errors.prefix_) {
  errors_.prefix_ = join_config_path(before_, path);
}

}  // namespace pax::config
