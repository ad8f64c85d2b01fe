#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "pax/array/tree.h"
#include "pax/config/config.h"

namespace pax {

/// How a new run takes weights from another run's checkpoint (paxml.tasks_lib.CheckpointLoadingRules). Names are paths
/// below `mdl_vars`, `params/lm/...`; a pattern has to match the beginning of the name, as in Python's `re.match`.
struct CheckpointLoadingRules {
  static constexpr std::string_view kName = "paxml.tasks_lib.CheckpointLoadingRules";
  static constexpr std::string_view kDoc = "What to take from another run's checkpoint.";

  Required<std::string> checkpoint_path{};
  std::vector<std::array<std::string, 2>> load_rules;
  bool safe_load = false;
  std::vector<std::string> ignore_rules;
  std::optional<int64_t> step{};
  bool load_step = false;
  bool load_opt_states = false;
  bool load_ema_states = true;
  bool partial_load_opt_states = false;

  static void fields(auto& self, auto&& visit) {
    visit("checkpoint_path", self.checkpoint_path, "A checkpoint, a checkpoints folder or a job_log_dir.");
    visit("load_rules", self.load_rules,
          "Pairs of a pattern for this model's names and the name there, in which {} stands for the pattern's groups; "
          "ema/... names its moving average. The first pattern that matches counts.");
    visit("safe_load", self.safe_load, "Refuse load rules that match nothing.");
    visit("ignore_rules", self.ignore_rules, "Patterns of names to leave alone.");
    visit("step", self.step, "Step of the checkpoint; the newest when not given.");
    visit("load_step", self.load_step, "Go on counting from its step.");
    visit("load_opt_states", self.load_opt_states, "Take all of the optimizer's state.");
    visit("load_ema_states", self.load_ema_states, "Allow names that begin with ema/.");
    visit("partial_load_opt_states", self.partial_load_opt_states,
          "Take the optimizer's state by load_rules, on names such as 0/0/m/params/lm/...");
  }
  void validate(config::Errors& errors) const;
};

/// What a set of rules gives a new run.
struct WarmStart {
  HostTree state;                           ///< values for these names of the new run's state
  std::optional<int64_t> step;              ///< when a rule asks for it
  bool has_opt_states = false;              ///< otherwise the optimizer begins anew from the weights
  std::map<std::string, std::string> from;  ///< "checkpoint path: name" of each value, for provenance
};

/// Applies `rules` in order to a run whose state is `model`; for each name the first source that has a rule for it
/// wins. Values are converted to the element types of `model`. Throws RuntimeError naming every array that a checkpoint
/// lacks or has in another shape; ConfigError for a safe_load rule that matches nothing.
WarmStart warm_start(const Tree<TensorType>& model, std::span<const CheckpointLoadingRules> rules);

}  // namespace pax
