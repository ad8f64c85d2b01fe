#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pax/plan/machine.h"
#include "pax/trainer/experiment.h"

namespace pax {

/// What a sweep varies.
enum class SweepOver : uint8_t { kRemat, kMesh };

/// "remat,mesh" as a list. Throws ConfigError naming what there is.
std::vector<SweepOver> parse_sweep(std::string_view text);

/// Class constants of an experiment to try in place of its own: `CHECKPOINT_POLICY=SAVE_NOTHING`,
/// `ICI_MESH_SHAPE=[1,32,1]`.
using Alternative = std::vector<std::string>;

/// Every combination of what is varied: remat policies that mean something for transformers, and meshes that share a
/// slice out between data (FSDP) and mdl (tensor) axes; all other axes stay. The batch stays as well.
std::vector<Alternative> alternatives(const ExperimentConfig& config, const Machine& machine,
                                      const std::vector<SweepOver>& over);

/// How one alternative came out.
struct SweepRow {
  Alternative alternative;
  std::string error;  ///< why there is no plan
  bool fits = false;
  int64_t peak_bytes = 0;
  int64_t capacity_bytes = 0;
  double step_s = 0;
  double mfu = 0;
};

/// A row from the JSON of a plan (report.h); an error when it is none.
SweepRow sweep_row(const Alternative& alternative, std::string_view plan_json);

/// Fastest of those that fit first, then those that do not by what they need, then failures.
void rank(std::vector<SweepRow>& rows);

/// A table of ranked rows, and the same as one line of JSON.
std::string sweep_text(const std::vector<SweepRow>& rows);
std::string sweep_json(const std::vector<SweepRow>& rows);

}  // namespace pax
