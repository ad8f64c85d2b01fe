// golden_test [-v] [PART...]: runs every recorded case below $PAX_GOLDEN_DIR (the folder of this file when unset) whose
// name contains one of the parts. One line a failing case; the last line says how many passed and failed.

#include <fmt/format.h>

#include <atomic>
#include <cstdlib>
#include <exception>
#include <thread>

#include "pax/layers/registry.h"
#include "pax/optim/registry.h"
#include "pax/runtime/platform.h"
#include "pax/task/registry.h"
#include "tests/golden/kinds.h"

namespace pax::golden {
namespace {

struct Options {
  bool verbose = false;
  std::vector<std::string_view> parts;
};

bool wanted(const CaseFile& file, const Options& options) {
  if (options.parts.empty()) return true;
  for (const std::string_view part : options.parts) {
    if (file.name.find(part) != std::string::npos) return true;
  }
  return false;
}

std::vector<CaseResult> run_one(const CaseFile& file, const Context& context) {
  try {
    return file.run(file, context);
  } catch (const std::exception& error) {
    return {{file.name, error.what()}};
  }
}

/// All cases, on as many threads as the machine has; results in the order of the cases.
std::vector<std::vector<CaseResult>> run_all(const std::vector<CaseFile>& cases, const Context& context) {
  std::vector<std::vector<CaseResult>> results(cases.size());
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    for (size_t i = next++; i < cases.size(); i = next++) results[i] = run_one(cases[i], context);
  };
  std::vector<std::jthread> threads;
  for (unsigned i = 1; i < std::thread::hardware_concurrency(); ++i) threads.emplace_back(work);
  work();
  threads.clear();
  return results;
}

int run(const Options& options) {
  const char* from_environment = std::getenv("PAX_GOLDEN_DIR");
  std::vector<CaseFile> cases =
      find_cases(from_environment != nullptr ? from_environment : PAX_SOURCE_DIR "/tests/golden");
  std::erase_if(cases, [&](const CaseFile& file) { return !wanted(file, options); });

  config::Registry registry;
  register_layers(registry);
  register_optim(registry);
  register_tasks(registry);
  const Context context{open_client({}), registry};
  size_t passed = 0, failed = 0;
  for (const std::vector<CaseResult>& results : run_all(cases, context)) {
    for (const CaseResult& result : results) {
      ++(result.passed() ? passed : failed);
      if (!result.passed()) fmt::print("FAILED {}: {}\n", result.name, result.message);
      if (result.passed() && options.verbose) fmt::print("passed {}\n", result.name);
    }
  }
  fmt::print("{} passed, {} failed\n", passed, failed);
  return failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace pax::golden

int main(int argc, char** argv) {
  pax::golden::Options options;
  for (const std::string_view argument : std::span(argv + 1, static_cast<size_t>(argc - 1))) {
    if (argument == "-v") {
      options.verbose = true;
    } else {
      options.parts.push_back(argument);
    }
  }
  try {
    return pax::golden::run(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "golden_test: {}\n", error.what());
    return 2;
  }
}
