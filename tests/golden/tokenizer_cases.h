#pragma once

#include <filesystem>
#include <vector>

#include "tests/golden/input_cases.h"

namespace pax::data {

/// Encodes and decodes every case of one `*.expected.json` with the tokenizer that it names: one result, whose message
/// is the first difference.
std::vector<GoldenResult> check_golden_tokenizer(const std::filesystem::path& expected_json);

}  // namespace pax::data
