#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "pax/base/text.h"
#include "tests/cli/paxml.h"

namespace pax {

/// A tiny model that was trained for a few steps, made once for all tests of a suite.
class TrainedRun : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (files_ != nullptr) return;
    files_ = new TempDirectory();
    write_text(text(), 6000);
    const Ended trained = paxml(verb("train"));
    if (trained.exit_code != 0) throw std::runtime_error(trained.err);
  }

  static std::filesystem::path text() { return files_->path() / "text.txt"; }
  static std::filesystem::path run_dir() { return files_->path() / "run"; }
  static std::filesystem::path file(const std::string& name) { return files_->path() / name; }

  /// A paxml command on that run.
  static std::vector<std::string> verb(const std::string& name, const std::vector<std::string>& more = {}) {
    std::vector<std::string> args{name};
    const std::vector<std::string> tiny = tiny_experiment(text(), 4);
    args.insert(args.end(), tiny.begin(), tiny.end());
    args.insert(args.end(), {"--job_log_dir", run_dir().string()});
    args.insert(args.end(), more.begin(), more.end());
    return args;
  }

  /// The JSON value on the last line of what a command printed.
  static nlohmann::json last_json(const Ended& ended) {
    std::vector<std::string> lines = split(ended.out, '\n');
    while (!lines.empty() && lines.back().empty()) lines.pop_back();
    return lines.empty() ? nlohmann::json() : nlohmann::json::parse(lines.back(), nullptr, false);
  }

 private:
  static inline TempDirectory* files_ = nullptr;
};

}  // namespace pax
