#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "pax/experiments/load.h"

namespace pax::cli {

/// What most commands take.
struct Common {
  ExperimentRequest experiment;
  std::filesystem::path job_log_dir;
  bool json = false;  ///< one JSON value on the last line of standard output
};

/// Exit codes of the program.
inline constexpr int kDone = 0;
inline constexpr int kFailed = 1;
inline constexpr int kUserMistake = 2;
inline constexpr int kPreempted = 3;

// Each command does its work and returns an exit code; mistakes are thrown.

int train_command(const Common& common);
int list_command(const std::string& search, bool json);
/// The layers with their sizes; as a page of its own when `html` names a file.
int describe_command(const Common& common, const std::filesystem::path& html);

struct TraceOptions {
  std::filesystem::path out;  ///< write the program here
  bool print = false;         ///< write it to standard output
};
int trace_command(const Common& common, const TraceOptions& options);

struct ShowOptions {
  bool only_changed = false;
  bool comments = false;
  std::string path;  ///< only this part
  std::string find;  ///< members whose name contains this
};
int config_show_command(const Common& common, const ShowOptions& options);
int config_validate_command(const Common& common);
int config_diff_command(const std::string& left, const std::string& right);
int config_schema_command();

struct ConvertOptions {
  std::string from;                   ///< "maxtext"; empty: from the experiment asked for
  std::string to;                     ///< "fiddle", "maxtext"; empty: YAML of this program
  std::vector<std::string> files;     ///< of a foreign format
  std::vector<std::string> settings;  ///< key=value
  std::filesystem::path out;          ///< empty: standard output
};
int config_convert_command(const Common& common, const ConvertOptions& options);
/// The templates of the config as a Graphviz graph; nodes that stand in several places have several edges.
int config_graph_command(const Common& common);

/// The experiment that `common` asks for, checked.
LoadedExperiment load_valid(const Common& common);

}  // namespace pax::cli
