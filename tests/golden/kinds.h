#pragma once

#include "tests/golden/case.h"

namespace pax::golden {

/// A file that stands for one case or several.
struct CaseFile {
  std::string name;  ///< path below the folder, without its ending
  std::filesystem::path path;
  std::vector<CaseResult> (*run)(const CaseFile& file, const Context& context);
};

/// Every file below `directory` that is a case, by name.
std::vector<CaseFile> find_cases(const std::filesystem::path& directory);

}  // namespace pax::golden
