#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

#include "pax/base/files.h"

namespace pax {

/// How a paxml process ended.
struct Ended {
  int exit_code = -1;  ///< 128 + signal when it was killed
  std::string out;
  std::string err;
};

/// A paxml process that is running.
class Paxml {
 public:
  /// `variables`: extra environment, "NAME=value".
  explicit Paxml(const std::vector<std::string>& args, const std::vector<std::string>& variables = {});
  void signal(int number) const;
  Ended wait();

 private:
  pid_t pid_;
  TempDirectory files_;
};

/// Runs paxml to its end.
Ended paxml(const std::vector<std::string>& args, const std::vector<std::string>& variables = {});

/// The flags of an experiment that trains in well under a second: one narrow layer on `text`, `steps` updates.
std::vector<std::string> tiny_experiment(const std::filesystem::path& text, int steps);

/// A text of `bytes` bytes of words, the same each time.
void write_text(const std::filesystem::path& path, size_t bytes);

}  // namespace pax
