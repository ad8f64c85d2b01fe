#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

namespace pax::data {

/// Files that a pattern names, sorted: a path, a glob with `*`, `?`, `[…]` in its last part or any other, several of
/// these separated by commas, or `name@10` for the ten shards `name-00000-of-00010` and so on.
/// Throws RuntimeError naming the pattern when a part of it names no file.
std::vector<std::filesystem::path> expand_file_pattern(std::string_view pattern);

}  // namespace pax::data
