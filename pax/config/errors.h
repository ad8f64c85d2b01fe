#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pax::config {

/// Collects the mistakes of a config, each with its path, so that they are reported together; after 100 it only counts.
class Errors {
 public:
  /// `path` is relative to the config being looked at (see `Prefix`).
  void add(std::string_view path, std::string_view message, int line = 0);

  bool empty() const { return messages_.empty(); }
  const std::vector<std::string>& messages() const { return messages_; }
  const std::string& prefix() const { return prefix_; }

  /// Throws one ConfigError with a line for each mistake, if there is any.
  void throw_if_any() const;

  /// While it lives, paths are relative to `path` below the present prefix.
  class Prefix {
   public:
    Prefix(Errors& errors, std::string_view path);
    ~Prefix() { errors_.prefix_ = std::move(before_); }
    Prefix(const Prefix&) = delete;
    Prefix& operator=(const Prefix&) = delete;

   private:
    Errors& errors_;
    std::string before_;
  };

  /// Name of the text being read; messages with a line then say `(file:line)`.
  std::string source;

 private:
  std::vector<std::string> messages_;
  size_t count_ = 0;
  std::string prefix_;
};

/// `a` and `b` as "a.b"; `a` and `[2]` as "a[2]".
std::string join_config_path(std::string_view left, std::string_view right);

}  // namespace pax::config
