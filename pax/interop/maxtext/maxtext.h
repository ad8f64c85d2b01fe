#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "pax/interop/maxtext/settings.h"
#include "pax/trainer/experiment.h"

namespace pax {

/// What became of one MaxText key.
struct MaxTextLine {
  std::string key;
  std::string value;
  std::string verdict;  ///< "mapped", "approximated", "ignored"
  std::string field;    ///< where it went; empty when ignored
  std::string note;
};

struct MaxTextConversion {
  ExperimentConfig config;
  std::vector<MaxTextLine> report;  ///< every key that differs from base.yml, and what else shaped the model
};

/// The experiment that MaxText's config files and `key=value` arguments describe: `base.yml` first, then a model's
/// file; none: MaxText's defaults. Throws one ConfigError with every key that is unknown, refused, or has no
/// counterpart here.
MaxTextConversion from_maxtext(std::span<const std::filesystem::path> files, std::span<const std::string> arguments);

/// MaxText keys as YAML for what its config can say of the experiment; what it cannot is named in comments.
std::string to_maxtext(const ExperimentConfig& config);

/// A Markdown table of every key: default, treatment, field, note.
std::string maxtext_key_table();

/// Names of MaxText's model presets that become experiments here.
std::span<const std::string_view> maxtext_models();

}  // namespace pax
