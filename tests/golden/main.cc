// golden_test [-v] [PART...]: runs every recorded case below $PAX_GOLDEN_DIR (the folder of this file when unset) whose
// name contains one of the parts. One line a failing case; the last line says how many passed and failed.

#include <fmt/format.h>

#include <atomic>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <optional>
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

/// Prints results in the order of the cases, as soon as all before are there.
class Report {
 public:
  Report(size_t cases, bool verbose) : results_(cases), verbose_(verbose) {}

  void add(size_t i, std::vector<CaseResult> results) {
    const std::lock_guard lock(mutex_);
    results_[i] = std::move(results);
    while (printed_ < results_.size() && results_[printed_]) print(*results_[printed_++]);
    std::fflush(stdout);
  }
  size_t passed() const { return passed_; }
  size_t failed() const { return failed_; }

 private:
  void print(const std::vector<CaseResult>& results) {
    for (const CaseResult& result : results) {
      ++(result.passed() ? passed_ : failed_);
      if (!result.passed()) fmt::print("FAILED {}: {}\n", result.name, result.message);
      if (result.passed() && verbose_) fmt::print("passed {}\n", result.name);
    }
  }

  std::mutex mutex_;
  std::vector<std::optional<std::vector<CaseResult>>> results_;
  size_t printed_ = 0, passed_ = 0, failed_ = 0;
  const bool verbose_;
};

/// All cases, on as many threads as the machine has.
void run_all(const std::vector<CaseFile>& cases, const Context& context, Report& report) {
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    for (size_t i = next++; i < cases.size(); i = next++) report.add(i, run_one(cases[i], context));
  };
  std::vector<std::jthread> threads;
  for (unsigned i = 1; i < std::thread::hardware_concurrency(); ++i) threads.emplace_back(work);
  work();
}

int run(const Options& options) {
  const char* from_environment = std::getenv("PAX_GOLDEN_DIR");
  std::vector<CaseFile> cases =
      find_cases(from_environment != nullptr ? from_environment : PAX_SOURCE_DIR "/tests/golden");
  std::erase_if(cases, [&](const CaseFile& file) { return !wanted(file, options); });

  // Programs are tiny: compiling them is all the work. Read by the plugin when it is loaded.
  setenv("XLA_FLAGS", "--xla_backend_optimization_level=1", 0);
  config::Registry registry;
  register_layers(registry);
  register_optim(registry);
  register_tasks(registry);
  const Context context{open_client({}), registry};
  Report report(cases.size(), options.verbose);
  run_all(cases, context, report);
  fmt::print("{} passed, {} failed\n", report.passed(), report.failed());
  return report.failed() == 0 ? 0 : 1;
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
