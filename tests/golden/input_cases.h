#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace pax::data {

/// One golden comparison. `message` says what differs; empty when `ok`.
struct GoldenResult {
  std::string name;
  bool ok = false;
  std::string message;
};

/// Reads every record file that `dir`/expected.json lists and compares with its documents: one result a file.
std::vector<GoldenResult> check_golden_input(const std::filesystem::path& dir);

}  // namespace pax::data
