#include "pax/layers/rnn/frnn.h"
#include "tests/golden/layer_call.h"

namespace pax::golden {
namespace {

RnnInputs inputs_of(const LayerCall& call) {
  return {.act = {call.in("act")}, .padding = call.in("padding"), .segment_ids = call.in("segment_ids")};
}

void add_state(Outputs& outputs, const std::string& name, const RnnState& state) {
  outputs[name + "/c"] = state.c;
  outputs[name + "/m"] = state.m;
}

Outputs call_frnn(const FRnn& layer, const LayerCall& call) {
  const RnnOutput out = layer.fprop(inputs_of(call));
  Outputs outputs{{"act", out.act}};
  add_state(outputs, "state", out.state);
  return outputs;
}

Outputs call_stack(const StackFrnn& layer, const LayerCall& call) {
  const StackFrnn::Output out = layer.fprop(inputs_of(call));
  Outputs outputs{{"act", out.act}};
  for (size_t i = 0; i < out.states.size(); ++i) add_state(outputs, "state/" + std::to_string(i), out.states[i]);
  return outputs;
}

Outputs call_bidirectional(const StackBiFrnn& layer, const LayerCall& call) {
  const StackBiFrnn::Output out = layer.fprop(inputs_of(call));
  Outputs outputs{{"act", out.act}};
  for (size_t i = 0; i < out.states.size(); ++i) {
    add_state(outputs, "state/" + std::to_string(i) + "/fwd", out.states[i].fwd);
    add_state(outputs, "state/" + std::to_string(i) + "/bwd", out.states[i].bwd);
  }
  return outputs;
}

constexpr LayerBinder kBinders[] = {binder<FRnn, call_frnn>(), binder<StackFrnn, call_stack>(),
                                    binder<StackBiFrnn, call_bidirectional>()};

Outputs call_reset_mask(const LayerCall& call) {
  return {{"out", reset_mask(call.in("segment_ids"), call.in("paddings"), DType::kF32)}};
}

constexpr FunctionBinder kFunctions[] = {{"frnn.reset_mask", call_reset_mask}};

}  // namespace

std::span<const LayerBinder> rnn_binders() { return kBinders; }
std::span<const FunctionBinder> rnn_functions() { return kFunctions; }

}  // namespace pax::golden
