#include "pax/layers/rnn/frnn.h"

#include <fmt/format.h>

#include "pax/base/error.h"
#include "pax/control/scan.h"
#include "pax/ops/broadcast.h"
#include "pax/ops/constant.h"
#include "pax/ops/convert.h"
#include "pax/ops/logic.h"
#include "pax/ops/reshape.h"
#include "pax/ops/slice.h"

namespace pax {
namespace {

/// A layer's network: `frnn` with the cell's sizes set.
Tpl<FRnn> sized(const Tpl<FRnn>& frnn, int64_t input_nodes, int64_t output_nodes) {
  Tpl<FRnn> copy = frnn.clone_unshared();
  copy.set("cell_tpl.num_input_nodes", input_nodes);
  copy.set("cell_tpl.num_output_nodes", output_nodes);
  return copy;
}

void require_network(const Tpl<FRnn>& frnn, int64_t num_layers, const std::string& path) {
  if (!frnn) fail<ConfigError>("{}: frnn_tpl is not set", path);
  if (num_layers < 1) fail<ConfigError>("{}: num_layers is {}; it must be at least 1", path, num_layers);
}

}  // namespace

Tensor reset_mask(Tensor segment_ids, Tensor paddings, DType dtype) {
  const Tensor before = pad_dim(slice_dim(segment_ids, 1, 0, segment_ids.dim(1) - 1), 1, 1, 0, -1);
  Tensor kept = eq(before, segment_ids);
  if (paddings) kept = logical_or(kept, ne(paddings, 0.0));
  return convert(kept, dtype);
}

FRnn::FRnn(const Config& config, const Scope& scope) : FRnn(config, scope, Projection::kInLoop) {}

FRnn::FRnn(const Config& config, const Scope& scope, Projection projection)
    : Layer(config, scope), reverse_(config.reverse), projection_(projection) {
  if (!config.cell_tpl) pax::fail<ConfigError>("{}: cell_tpl is not set", scope.path());
  cell_ = child("cell", config.cell_tpl);
}

RnnOutput FRnn::fprop(const RnnInputs& inputs, RnnState state) const {
  if (inputs.act.empty() || !inputs.padding || inputs.padding.rank() != 3 || inputs.padding.dim(2) != 1) {
    fail(fmt::format("{} inputs, paddings {}; there must be an input and paddings [B, T, 1]", inputs.act.size(),
                     inputs.padding ? to_string(inputs.padding.type()) : "none"));
  }
  const int64_t steps = inputs.padding.dim(1);
  if (!state.m) state = init_states(inputs.padding.dim(0));
  const Tensor mask = inputs.segment_ids ? reset_mask(inputs.segment_ids, inputs.padding, fprop_dtype())
                                         : full(graph(), {fprop_dtype(), inputs.padding.shape()}, 1.0);
  std::vector<Tensor> xs{move_dim(inputs.padding, 1, 0), move_dim(mask, 1, 0),
                         iota(graph(), {DType::kS32, {steps}}, 0)};
  const size_t fixed = xs.size();
  if (projection_ == Projection::kBefore) {
    const Tensor act = inputs.act.size() == 1 ? inputs.act[0] : concatenate(inputs.act, -1);
    xs.push_back(move_dim(cell_->project_input(act), 1, 0));
  } else {
    for (const Tensor act : inputs.act) xs.push_back(move_dim(act, 1, 0));
  }

  const ScanOptions options{.length = steps, .reverse = reverse_};
  const std::vector<Tensor> init{state.m, state.c};
  const ScanStep result =
      scan(graph(), options, init, xs, [&](std::span<const Tensor> carry, std::span<const Tensor> x) {
        RnnStep step{.act = {}, .projected = {}, .padding = x[0], .reset_mask = x[1], .time = x[2]};
        if (projection_ == Projection::kBefore) {
          step.projected = x[fixed];
        } else {
          step.act.assign(x.begin() + static_cast<std::ptrdiff_t>(fixed), x.end());
        }
        const RnnState next = cell_->step({.m = carry[0], .c = carry[1]}, step);
        return ScanStep{.carry = {next.m, next.c}, .ys = {next.m}};
      });
  return {.act = move_dim(result.ys[0], 0, 1), .state = {.m = result.carry[0], .c = result.carry[1]}};
}

RnnState FRnn::extend_step(std::vector<Tensor> act, Tensor padding, const RnnState& state) const {
  const Tensor keep = full_like(padding, 1.0);
  return cell_->step(state,
                     {.act = std::move(act), .projected = {}, .padding = padding, .reset_mask = keep, .time = {}});
}

StackFrnn::StackFrnn(const Config& config, const Scope& scope) : Layer(config, scope) {
  require_network(config.frnn_tpl, config.num_layers, scope.path());
  for (int64_t i = 0; i < config.num_layers; ++i) {
    const int64_t inputs = i == 0 ? config.num_input_nodes : config.num_output_nodes;
    frnn_.push_back(child(fmt::format("frnn_{}", i), sized(config.frnn_tpl, inputs, config.num_output_nodes)));
  }
}

std::vector<RnnState> StackFrnn::init_states(int64_t batch_size) const {
  std::vector<RnnState> states;
  for (const Child<FRnn>& frnn : frnn_) states.push_back((*frnn).init_states(batch_size));
  return states;
}

StackFrnn::Output StackFrnn::fprop(RnnInputs inputs, const std::vector<RnnState>& states) const {
  Output out;
  for (size_t i = 0; i < frnn_.size(); ++i) {
    const RnnOutput layer = frnn_[i]->fprop(inputs, states.empty() ? RnnState{} : states.at(i));
    inputs.act = {layer.act};
    out.states.push_back(layer.state);
  }
  out.act = inputs.act[0];
  return out;
}

std::vector<RnnState> StackFrnn::extend_step(Tensor act, Tensor padding, const std::vector<RnnState>& states) const {
  std::vector<RnnState> next;
  for (size_t i = 0; i < frnn_.size(); ++i) {
    next.push_back(frnn_[i]->extend_step({act}, padding, states.at(i)));
    act = next.back().m;
  }
  return next;
}

StackBiFrnn::StackBiFrnn(const Config& config, const Scope& scope) : Layer(config, scope) {
  require_network(config.frnn_tpl, config.num_layers, scope.path());
  if (config.num_output_nodes % 2 != 0) {
    pax::fail<ConfigError>("{}: num_output_nodes is {}; half of it comes from each direction, so it must be even",
                           scope.path(), config.num_output_nodes);
  }
  for (int64_t i = 0; i < config.num_layers; ++i) {
    const int64_t inputs = i == 0 ? config.num_input_nodes : config.num_output_nodes;
    const auto direction = [&](std::string_view name, bool reverse) {
      Tpl<FRnn> frnn = sized(config.frnn_tpl, inputs, config.num_output_nodes / 2);
      frnn.set("reverse", reverse);
      return child(fmt::format("{}_{}", name, i), frnn);
    };
    fwd_frnn_.push_back(direction("fwd_frnn", false));
    bwd_frnn_.push_back(direction("bwd_frnn", true));
  }
}

StackBiFrnn::Output StackBiFrnn::fprop(RnnInputs inputs, const std::vector<Pair>& states) const {
  Output out;
  for (size_t i = 0; i < fwd_frnn_.size(); ++i) {
    const Pair start = states.empty() ? Pair{} : states.at(i);
    const RnnOutput fwd = fwd_frnn_[i]->fprop(inputs, start.fwd);
    const RnnOutput bwd = bwd_frnn_[i]->fprop(inputs, start.bwd);
    inputs.act = {concatenate({fwd.act, bwd.act}, -1)};
    out.states.push_back({fwd.state, bwd.state});
  }
  out.act = inputs.act[0];
  return out;
}

template const config::ConfigType& config::type_of<FRnn::Config>();
template const config::ConfigType& config::type_of<LstmFrnn::Config>();
template const config::ConfigType& config::type_of<StackFrnn::Config>();
template const config::ConfigType& config::type_of<StackBiFrnn::Config>();

}  // namespace pax
