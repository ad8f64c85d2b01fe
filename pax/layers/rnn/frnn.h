#pragma once

#include "pax/layers/rnn/rnn_cell.h"

namespace pax {

/// A sequence for a recurrent network.
struct RnnInputs {
  std::vector<Tensor> act;  ///< [B, T, D_i] each
  Tensor padding;           ///< [B, T, 1]
  Tensor segment_ids;       ///< [B, T, 1]; null when examples are not packed
};

struct RnnOutput {
  Tensor act;  ///< [B, T, M]
  RnnState state;
};

/// 1 where the state is kept, 0 where a segment begins; padding keeps it. Both [B, T] or [B, T, 1]; `paddings` may be
/// null (praxis frnn.reset_mask).
Tensor reset_mask(Tensor segment_ids, Tensor paddings, DType dtype);

/// A recurrent cell run over time as one loop of the program (praxis frnn.FRnn).
class FRnn : public Layer {
 public:
  using Interface = FRnn;
  struct Config : LayerConfig {
    using Product = FRnn;
    static constexpr std::string_view kName = "praxis.layers.FRnn";
    static constexpr std::string_view kAliases[] = {"praxis.layers.frnn.FRnn"};
    static constexpr std::string_view kDoc = "A recurrent cell run over time.";
    Tpl<BaseRnnCell> cell_tpl;
    bool reverse = false;
    int64_t unroll = 1;
    static void fields(auto& self, auto&& visit) {
      LayerConfig::fields(self, visit);
      visit("cell_tpl", self.cell_tpl, "The cell.");
      visit("reverse", self.reverse, "From the last step to the first.");
      visit("unroll", self.unroll,
            {.doc = "Steps that Praxis puts in one iteration; results do not depend on it.", .min = 1});
    }
  };
  FRnn(const Config& config, const Scope& scope);

  using Layer::fprop;
  /// From `state`, or zeros when its tensors are null.
  RnnOutput fprop(const RnnInputs& inputs, RnnState state = {}) const;
  RnnState init_states(int64_t batch_size) const { return (*cell_).init_states(batch_size); }
  /// One step: `act` [B, D_i] each, `padding` [B, 1]. The new state's `m` is the output.
  RnnState extend_step(std::vector<Tensor> act, Tensor padding, const RnnState& state) const;

 protected:
  /// What each step takes besides padding, over time; projects them beforehand when that pays.
  enum class Projection : uint8_t { kInLoop, kBefore };
  FRnn(const Config& config, const Scope& scope, Projection projection);

 private:
  const bool reverse_;
  const Projection projection_;
  Child<BaseRnnCell> cell_;
};
extern template const config::ConfigType& config::type_of<FRnn::Config>();

/// FRnn that projects all steps' inputs at once before the loop (praxis frnn.LstmFrnn).
class LstmFrnn final : public FRnn {
 public:
  struct Config : FRnn::Config {
    using Product = LstmFrnn;
    static constexpr std::string_view kName = "praxis.layers.LstmFrnn";
    static constexpr std::string_view kAliases[] = {"praxis.layers.frnn.LstmFrnn"};
    static constexpr std::string_view kDoc = "FRnn that projects all inputs before the loop.";
  };
  LstmFrnn(const Config& config, const Scope& scope) : FRnn(config, scope, Projection::kBefore) {}
};
extern template const config::ConfigType& config::type_of<LstmFrnn::Config>();

/// Recurrent networks one above the other (praxis frnn.StackFrnn).
class StackFrnn final : public Layer {
 public:
  struct Config : LayerConfig {
    using Product = StackFrnn;
    static constexpr std::string_view kName = "praxis.layers.StackFrnn";
    static constexpr std::string_view kAliases[] = {"praxis.layers.frnn.StackFrnn"};
    static constexpr std::string_view kDoc = "Recurrent networks one above the other.";
    Tpl<FRnn> frnn_tpl;
    int64_t num_layers = 1;
    int64_t num_input_nodes = 0;
    int64_t num_output_nodes = 0;
    static void fields(auto& self, auto&& visit) {
      LayerConfig::fields(self, visit);
      visit("frnn_tpl", self.frnn_tpl, "One network.");
      visit("num_layers", self.num_layers, {.doc = "How many.", .min = 1});
      visit("num_input_nodes", self.num_input_nodes, "Size of the input.");
      visit("num_output_nodes", self.num_output_nodes, "Size of each one's output.");
    }
  };
  StackFrnn(const Config& config, const Scope& scope);

  struct Output {
    Tensor act;
    std::vector<RnnState> states;  ///< one a network, lowest first
  };
  using Layer::fprop;
  /// From `states`, or zeros when there are none.
  Output fprop(RnnInputs inputs, const std::vector<RnnState>& states = {}) const;
  std::vector<RnnState> init_states(int64_t batch_size) const;
  /// One step of each: see FRnn::extend_step.
  std::vector<RnnState> extend_step(Tensor act, Tensor padding, const std::vector<RnnState>& states) const;

 private:
  std::vector<Child<FRnn>> frnn_;
};
extern template const config::ConfigType& config::type_of<StackFrnn::Config>();

/// The same with a network in each direction, whose outputs are put side by side (praxis frnn.StackBiFrnn).
class StackBiFrnn final : public Layer {
 public:
  struct Config : LayerConfig {
    using Product = StackBiFrnn;
    static constexpr std::string_view kName = "praxis.layers.StackBiFrnn";
    static constexpr std::string_view kAliases[] = {"praxis.layers.frnn.StackBiFrnn"};
    static constexpr std::string_view kDoc = "Recurrent networks in both directions, one pair above the other.";
    Tpl<FRnn> frnn_tpl;
    int64_t num_layers = 1;
    int64_t num_input_nodes = 0;
    int64_t num_output_nodes = 0;
    static void fields(auto& self, auto&& visit) {
      LayerConfig::fields(self, visit);
      visit("frnn_tpl", self.frnn_tpl, "One network.");
      visit("num_layers", self.num_layers, {.doc = "How many pairs.", .min = 1});
      visit("num_input_nodes", self.num_input_nodes, "Size of the input.");
      visit("num_output_nodes", self.num_output_nodes, "Size of each pair's output: even.");
    }
  };
  StackBiFrnn(const Config& config, const Scope& scope);

  struct Pair {
    RnnState fwd, bwd;
  };
  struct Output {
    Tensor act;
    std::vector<Pair> states;
  };
  using Layer::fprop;
  Output fprop(RnnInputs inputs, const std::vector<Pair>& states = {}) const;

 private:
  std::vector<Child<FRnn>> fwd_frnn_, bwd_frnn_;
};
extern template const config::ConfigType& config::type_of<StackBiFrnn::Config>();

}  // namespace pax
