#include "tests/golden/kinds.h"

#include <algorithm>

#include "pax/base/error.h"
#include "tests/golden/hf_cases.h"
#include "tests/golden/init_cases.h"
#include "tests/golden/input_cases.h"
#include "tests/golden/layer_cases.h"
#include "tests/golden/optim_cases.h"
#include "tests/golden/task_cases.h"
#include "tests/golden/tokenizer_cases.h"

namespace pax::golden {
namespace {

struct Area {
  std::string_view name;
  RecordedRunner run;
};

/// What runs the cases of an area that is not one of layers or functions.
constexpr Area kAreas[] = {
    {"init", run_init_case},          {"learners", run_learner_case}, {"optimizers", run_optimizer_case},
    {"schedules", run_schedule_case}, {"tasks", run_task_case},
};

std::string run_recorded(const CaseFile& file, const Context& context) {
  const RecordedCase recorded = read_recorded_case(file.path);
  const std::string& area = recorded.text("area");
  const auto* at = std::ranges::find(kAreas, area, &Area::name);
  return at == std::end(kAreas) ? run_layer_case(recorded, context) : at->run(recorded, context);
}

std::vector<CaseResult> run_recorded_file(const CaseFile& file, const Context& context) {
  return {{file.name, run_recorded(file, context)}};
}

/// One case: its message lists every result that failed.
std::vector<CaseResult> as_one_case(const CaseFile& file, const std::vector<data::GoldenResult>& results) {
  std::string message;
  for (const data::GoldenResult& result : results) {
    if (!result.ok) message += (message.empty() ? "" : "; ") + result.name + ": " + result.message;
  }
  return {{file.name, message}};
}

std::vector<CaseResult> run_tokenizer(const CaseFile& file, const Context&) {
  return as_one_case(file, data::check_golden_tokenizer(file.path));
}

std::vector<CaseResult> run_input_listing(const CaseFile& file, const Context&) {
  return as_one_case(file, data::check_golden_input(file.path.parent_path()));
}

/// The kind of a file; nothing for those that belong to a case.
std::optional<CaseFile> as_case(const std::filesystem::path& path) {
  const std::string file = path.filename().string();
  if (file.ends_with(".expected.json")) return CaseFile{"", path, run_tokenizer};
  if (file == "expected.json") {
    // A Hugging Face folder has its model's config beside; a folder of record files has not.
    const bool is_model = std::filesystem::exists(path.parent_path() / "config.json");
    return CaseFile{"", path, is_model ? run_hf_folder : run_input_listing};
  }
  if (is_recorded_case(path)) return CaseFile{"", path, run_recorded_file};
  return std::nullopt;
}

}  // namespace

std::vector<CaseFile> find_cases(const std::filesystem::path& directory) {
  if (!std::filesystem::is_directory(directory)) fail<RuntimeError>("{}: no such folder", directory.string());
  std::vector<CaseFile> cases;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    if (!entry.is_regular_file()) continue;
    std::optional<CaseFile> found = as_case(entry.path());
    if (!found) continue;
    found->name = std::filesystem::relative(entry.path(), directory).replace_extension().string();
    cases.push_back(std::move(*found));
  }
  std::ranges::sort(cases, {}, &CaseFile::name);
  return cases;
}

}  // namespace pax::golden
