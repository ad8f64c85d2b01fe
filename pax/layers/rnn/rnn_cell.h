#pragma once

#include "pax/layers/layer.h"

namespace pax {

// B: batch, D: input, M: output, C: cell, G: number of gates.

/// What a recurrent cell carries from step to step.
struct RnnState {
  Tensor m;  ///< [B, M]: its output
  Tensor c;  ///< [B, C]
};

/// One step's input of a recurrent cell.
struct RnnStep {
  std::vector<Tensor> act;  ///< [B, D_i] each
  Tensor projected;         ///< [B, G C] from `project_input`, in the place of `act`
  Tensor padding;           ///< [B, 1]: where it is not 0 the state stays
  Tensor reset_mask;        ///< [B, 1]: where it is 0 the state is forgotten first
  Tensor time;              ///< i32 scalar: sets random draws of the steps apart; may be null where nothing is drawn
};

/// One step of a recurrent network (praxis rnn_cell.BaseRnnCell).
class BaseRnnCell : public Layer {
 public:
  using Interface = BaseRnnCell;
  using Layer::Layer;

  virtual RnnState init_states(int64_t batch_size) const = 0;
  virtual RnnState step(const RnnState& state, const RnnStep& inputs) const = 0;
  /// The part of a step that does not depend on the state: [B, T, D] -> [B, T, G C].
  virtual Tensor project_input(Tensor act_btd) const = 0;
};

/// Long short-term memory with an optional projection of the output (praxis rnn_cell.LstmCellSimple; Hochreiter and
/// Schmidhuber 1997, Sak et al. 2014). The base of the other cells.
class LstmCellSimple : public BaseRnnCell {
 public:
  struct Config : LayerConfig {
    using Product = LstmCellSimple;
    static constexpr std::string_view kName = "praxis.layers.LstmCellSimple";
    static constexpr std::string_view kAliases[] = {"praxis.layers.rnn_cell.LstmCellSimple"};
    static constexpr std::string_view kDoc = "Long short-term memory.";
    int64_t inputs_arity = 1;
    int64_t num_input_nodes = 0;
    int64_t num_output_nodes = 0;
    int64_t num_hidden_nodes = 0;
    bool reset_cell_state = false;
    std::optional<double> cell_value_cap = 10.0;
    double forget_gate_bias = 0.0;
    bool output_nonlinearity = true;
    double zo_prob = 0.0;
    WeightInit bias_init = WeightInit::constant(0.0);
    static void fields(auto& self, auto&& visit) {
      LayerConfig::fields(self, visit);
      visit("inputs_arity", self.inputs_arity, {.doc = "Number of input arrays.", .min = 1});
      visit("num_input_nodes", self.num_input_nodes, "Their sizes together.");
      visit("num_output_nodes", self.num_output_nodes, "Size of the output.");
      visit("num_hidden_nodes", self.num_hidden_nodes, "Size of the cell, which is then projected; 0: as the output.");
      visit("reset_cell_state", self.reset_cell_state, "Forgets the state where a new example begins.");
      visit("cell_value_cap", self.cell_value_cap, "The cell is cut off at this; null: not.");
      visit("forget_gate_bias", self.forget_gate_bias, "Added to the forget gate.");
      visit("output_nonlinearity", self.output_nonlinearity, "tanh of the cell before the output gate.");
      visit("zo_prob", self.zo_prob, {.doc = "Share of the state that stays at random.", .min = 0.0, .max = 1.0});
      visit("bias_init", self.bias_init, "How the bias begins.");
    }
  };
  LstmCellSimple(const Config& config, const Scope& scope) : LstmCellSimple(config, scope, 4) {}

  RnnState init_states(int64_t batch_size) const override;
  RnnState step(const RnnState& state, const RnnStep& inputs) const override;
  Tensor project_input(Tensor act_btd) const override;

 protected:
  LstmCellSimple(const Config& config, const Scope& scope, int64_t num_gates);

  const Config& cell_config() const { return config_; }
  int64_t hidden_size() const;
  /// `x` [..., G C] as G parts of [..., C].
  std::vector<Tensor> gates(Tensor x) const;
  /// The bias of each gate, the forget gate's with its addition.
  virtual std::vector<Tensor> gate_biases() const;
  /// From [B, G C] to what goes into the gates' nonlinearities.
  virtual std::vector<Tensor> preprocess(Tensor x) const;
  virtual Tensor next_cell(Tensor c, const std::vector<Tensor>& gates) const;

 private:
  RnnState zone_out(const RnnState& before, const RnnState& now, const RnnStep& inputs) const;

  const Config config_;
  const int64_t num_gates_;
  Tensor wm_;      ///< [D + M, G C]
  Tensor w_proj_;  ///< [C, M]; null without hidden nodes
  Tensor b_;       ///< [G C]
};
extern template const config::ConfigType& config::type_of<LstmCellSimple::Config>();

/// LSTM with each gate normalised (praxis rnn_cell.LayerNormalizedLstmCellSimple; Ba et al. 2016).
class LayerNormalizedLstmCellSimple final : public LstmCellSimple {
 public:
  struct Config : LstmCellSimple::Config {
    using Product = LayerNormalizedLstmCellSimple;
    static constexpr std::string_view kName = "praxis.layers.LayerNormalizedLstmCellSimple";
    static constexpr std::string_view kAliases[] = {"praxis.layers.rnn_cell.LayerNormalizedLstmCellSimple"};
    static constexpr std::string_view kDoc = "LSTM with each gate normalised.";
    double layer_norm_epsilon = 1e-8;
    static void fields(auto& self, auto&& visit) {
      LstmCellSimple::Config::fields(self, visit);
      visit("layer_norm_epsilon", self.layer_norm_epsilon, "Added to the variance.");
    }
  };
  LayerNormalizedLstmCellSimple(const Config& config, const Scope& scope);

 protected:
  std::vector<Tensor> preprocess(Tensor x) const override;

 private:
  const double layer_norm_epsilon_;
  Tensor ln_scale_;  ///< [G C]
};
extern template const config::ConfigType& config::type_of<LayerNormalizedLstmCellSimple::Config>();

/// LSTM whose input gate is what the forget gate leaves (praxis rnn_cell.CifgLstmCellSimple; Greff et al. 2015).
class CifgLstmCellSimple final : public LstmCellSimple {
 public:
  struct Config : LstmCellSimple::Config {
    using Product = CifgLstmCellSimple;
    static constexpr std::string_view kName = "praxis.layers.CifgLstmCellSimple";
    static constexpr std::string_view kAliases[] = {"praxis.layers.rnn_cell.CifgLstmCellSimple"};
    static constexpr std::string_view kDoc = "LSTM with coupled input and forget gates.";
  };
  CifgLstmCellSimple(const Config& config, const Scope& scope);

 protected:
  Tensor next_cell(Tensor c, const std::vector<Tensor>& gates) const override;
};
extern template const config::ConfigType& config::type_of<CifgLstmCellSimple::Config>();

}  // namespace pax
