#pragma once

#include <functional>

#include "pax/control/remat.h"
#include "pax/control/scan.h"
#include "pax/layers/layer.h"

namespace pax {

struct RepeatOptions {
  int64_t times = 0;
  /// `times` as a product: as many loops, one inside the other, and as many leading dimensions of the weights.
  std::optional<std::vector<int64_t>> nd_prefix_shape;
  AutodiffCheckpointType checkpoint_policy = AutodiffCheckpointType::kSaveNothing;
  std::vector<std::string> split;  ///< mesh axes of the last leading dimension of weights
};

/// A loop of the program that runs a layer several times, each time with weights of its own.
class RepeatLoop {
 public:
  /// Throws ConfigError naming `scope` when the options do not fit together.
  RepeatLoop(const Scope& scope, const RepeatOptions& options);

  int64_t times() const { return times_; }
  /// What repetition `i` is in the loops of the program, for `write_iteration`.
  std::vector<Iteration> turn(int64_t i) const;
  /// The scope of the layer inside: its weights have the repetitions in front.
  Scope inside(Scope scope) const;

  /// From a repetition's input to its output, which is the next one's input, and whatever else is handed out.
  using Body = std::function<std::vector<Tensor>(Tensor)>;
  struct Results {
    Tensor last;                  ///< the last repetition's output
    std::vector<Tensor> stacked;  ///< what was handed out, repetitions in front
  };
  Results run(Tensor x, const Body& body) const { return run_level(0, x, body); }

 private:
  struct Level {
    int64_t times;
    int64_t loop;
  };
  Results run_level(size_t level, Tensor x, const Body& body) const;

  int64_t times_;
  std::vector<Level> levels_;  ///< outermost first
  std::vector<std::string> split_;
  std::shared_ptr<const RematPolicy> remat_;
};

/// Runs one layer `x_times` times, each time with weights of its own, as one loop of the program (praxis
/// repeats.Repeat). The weights of all repetitions are stacked in front.
class Repeat final : public Layer {
 public:
  struct Config : LayerConfig {
    using Product = Repeat;
    static constexpr std::string_view kName = "praxis.layers.Repeat";
    static constexpr std::string_view kAliases[] = {"praxis.layers.repeats.Repeat"};
    static constexpr std::string_view kDoc = "A layer repeated as one loop of the program.";
    Tpl<Layer> sub_tpl;
    int64_t x_times = 0;
    bool unpack_summaries = false;
    AutodiffCheckpointType checkpoint_policy = AutodiffCheckpointType::kSaveNothing;
    bool unroll_in_decode = false;
    std::string sublayer_name = "sub";
    SplitDims optimizer_dims_mapping;
    bool collect_intermediate_outputs = false;
    bool return_intermediate_outputs = false;
    std::optional<std::vector<int64_t>> nd_prefix_shape;
    bool positional_args_as_scan_carry = false;
    static void fields(auto& self, auto&& visit) {
      LayerConfig::fields(self, visit);
      visit("sub_tpl", self.sub_tpl, "What is repeated: one input, one output.");
      visit("x_times", self.x_times, {.doc = "Number of repetitions.", .min = 0});
      visit("unpack_summaries", self.unpack_summaries);
      visit("checkpoint_policy", self.checkpoint_policy, "What the backward pass keeps of each repetition.");
      visit("unroll_in_decode", self.unroll_in_decode);
      visit("sublayer_name", self.sublayer_name);
      visit("optimizer_dims_mapping", self.optimizer_dims_mapping);
      visit("collect_intermediate_outputs", self.collect_intermediate_outputs);
      visit("return_intermediate_outputs", self.return_intermediate_outputs, "All outputs, stacked in front.");
      visit("nd_prefix_shape", self.nd_prefix_shape, "x_times as a product: several leading dimensions.");
      visit("positional_args_as_scan_carry", self.positional_args_as_scan_carry);
    }
  };
  Repeat(const Config& config, const Scope& scope);
  Tensor fprop(Tensor x) const override;

 private:
  const bool return_intermediate_outputs_;
  const RepeatLoop loop_;
  Child<Layer> sub_;
};
extern template const config::ConfigType& config::type_of<Repeat::Config>();

}  // namespace pax
