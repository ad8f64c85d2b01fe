#include "pax/layers/rnn/rnn_cell.h"

#include <fmt/format.h>

#include "pax/base/error.h"
#include "pax/ops/broadcast.h"
#include "pax/ops/constant.h"
#include "pax/ops/convert.h"
#include "pax/ops/dot.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/logic.h"
#include "pax/ops/random.h"
#include "pax/ops/reduce.h"
#include "pax/ops/slice.h"

namespace pax {

LstmCellSimple::LstmCellSimple(const Config& config, const Scope& scope, int64_t num_gates)
    : BaseRnnCell(config, scope), config_(config), num_gates_(num_gates) {
  const int64_t out = config.num_output_nodes, width = num_gates * hidden_size();
  wm_ = param("wm", {.shape = {config.num_input_nodes + out, width}});
  if (config.num_hidden_nodes != 0) w_proj_ = param("w_proj", {.shape = {hidden_size(), out}});
  b_ = param("b", {.shape = {width}, .init = config.bias_init});
}

int64_t LstmCellSimple::hidden_size() const {
  return config_.num_hidden_nodes != 0 ? config_.num_hidden_nodes : config_.num_output_nodes;
}

RnnState LstmCellSimple::init_states(int64_t batch_size) const {
  const auto zeros = [&](int64_t size) { return full(graph(), {fprop_dtype(), {batch_size, size}}, 0.0); };
  return {.m = zeros(config_.num_output_nodes), .c = zeros(hidden_size())};
}

std::vector<Tensor> LstmCellSimple::gates(Tensor x) const { return split(x, -1, num_gates_); }

std::vector<Tensor> LstmCellSimple::gate_biases() const {
  std::vector<Tensor> biases = gates(b_);
  if (config_.forget_gate_bias != 0) biases.at(2) = biases[2] + config_.forget_gate_bias;
  return biases;
}

std::vector<Tensor> LstmCellSimple::preprocess(Tensor x) const {
  if (config_.forget_gate_bias == 0) return gates(x + b_);
  std::vector<Tensor> parts = gates(x);
  const std::vector<Tensor> biases = gate_biases();
  for (size_t i = 0; i < parts.size(); ++i) parts[i] = parts[i] + biases[i];
  return parts;
}

Tensor LstmCellSimple::next_cell(Tensor c, const std::vector<Tensor>& gates) const {
  return logistic(gates[2]) * c + logistic(gates[1]) * tanh(gates[0]);
}

Tensor LstmCellSimple::project_input(Tensor act_btd) const {
  return einsum("btd,dg->btg", act_btd, slice_dim(wm_, 0, 0, config_.num_input_nodes));
}

RnnState LstmCellSimple::step(const RnnState& state, const RnnStep& inputs) const {
  RnnState before = state;
  if (config_.reset_cell_state) {
    const Tensor mask = convert(inputs.reset_mask, state.m.dtype());
    before = {.m = mask * state.m, .c = mask * state.c};
  }
  Tensor x;
  if (inputs.projected) {
    const Tensor w_m = slice_dim(wm_, 0, config_.num_input_nodes, wm_.dim(0));
    x = inputs.projected + einsum("bm,mg->bg", before.m, w_m);
  } else {
    if (static_cast<int64_t>(inputs.act.size()) != config_.inputs_arity) {
      fail(fmt::format("{} inputs are given, but inputs_arity is {}", inputs.act.size(), config_.inputs_arity));
    }
    std::vector<Tensor> all = inputs.act;
    all.push_back(before.m);
    x = einsum("bd,dg->bg", concatenate(std::move(all), 1), wm_);
  }
  const std::vector<Tensor> gates = preprocess(x);
  RnnState now{.m = {}, .c = next_cell(before.c, gates)};
  if (config_.cell_value_cap) now.c = clamp(-*config_.cell_value_cap, now.c, *config_.cell_value_cap);
  now.m = logistic(gates.back()) * (config_.output_nonlinearity ? tanh(now.c) : now.c);
  if (w_proj_) now.m = einsum("bc,cm->bm", now.m, w_proj_);
  return zone_out(before, now, inputs);
}

RnnState LstmCellSimple::zone_out(const RnnState& before, const RnnState& now, const RnnStep& inputs) const {
  const double p = config_.zo_prob;
  const Tensor padded = ne(inputs.padding, 0.0);
  const auto mixed = [&](Tensor old, Tensor fresh, int64_t draw) {
    Tensor stays = broadcast_to(padded, old.shape());
    if (p > 0 && do_eval()) fresh = old * p + fresh * (1.0 - p);
    if (p > 0 && !do_eval()) {
      Tensor key = scope().random_key(draw);
      if (inputs.time) key = fold_in(key, inputs.time);
      stays = logical_or(stays, random_bernoulli(key, old.shape(), p));
    }
    return select(stays, old, fresh);
  };
  return {.m = mixed(before.m, now.m, 1), .c = mixed(before.c, now.c, 0)};
}

LayerNormalizedLstmCellSimple::LayerNormalizedLstmCellSimple(const Config& config, const Scope& scope)
    : LstmCellSimple(config, scope, 4),
      layer_norm_epsilon_(config.layer_norm_epsilon),
      ln_scale_(param("ln_scale", {.shape = {4 * hidden_size()}, .init = WeightInit::constant(1.0)})) {}

std::vector<Tensor> LayerNormalizedLstmCellSimple::preprocess(Tensor x) const {
  std::vector<Tensor> parts = gates(x);
  const std::vector<Tensor> scales = gates(ln_scale_), biases = gate_biases();
  for (size_t i = 0; i < parts.size(); ++i) {
    const Tensor centered = parts[i] - reduce_mean(parts[i], {-1}, Reduced::kKept);
    const Tensor variance = reduce_mean(square(centered), {-1}, Reduced::kKept);
    parts[i] = centered * rsqrt(variance + layer_norm_epsilon_) * scales[i] + biases[i];
  }
  return parts;
}

CifgLstmCellSimple::CifgLstmCellSimple(const Config& config, const Scope& scope) : LstmCellSimple(config, scope, 3) {
  if (config.forget_gate_bias != 0) {
    pax::fail<ConfigError>("{}: forget_gate_bias is {}; coupled gates have none, set it to 0", scope.path(),
                           config.forget_gate_bias);
  }
}

Tensor CifgLstmCellSimple::next_cell(Tensor c, const std::vector<Tensor>& gates) const {
  const Tensor forget = logistic(gates[1]);
  return forget * c + (1.0 - forget) * tanh(gates[0]);
}

template const config::ConfigType& config::type_of<LstmCellSimple::Config>();
template const config::ConfigType& config::type_of<LayerNormalizedLstmCellSimple::Config>();
template const config::ConfigType& config::type_of<CifgLstmCellSimple::Config>();

}  // namespace pax
