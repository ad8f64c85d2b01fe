#pragma once

#include <functional>

#include "pax/array/tree.h"
#include "pax/layers/layer.h"

namespace pax {

/// A layer under test: traced into a program of its own.
struct TracedLayer {
  Graph graph;
  ModelTrace trace;
  explicit TracedLayer(ModelTrace::Mode mode = ModelTrace::Mode::kTrain) : trace(graph, mode) {}

  /// Builds the layer as the child "layer".
  template <class L>
  std::shared_ptr<L> build(const Tpl<L>& tpl) {
    const Graph::PathGuard path(graph, "layer");
    return tpl.build(Scope(trace).child("layer"));
  }
  Tensor input(std::string_view name, TensorType type) { return graph.argument(name, std::move(type)); }
};

/// Runs what was traced on a CPU plugin, with `result` as its result. `values` are inputs by name and variables by
/// their names in the training state ("params/layer/w").
HostArray run(TracedLayer& traced, Tensor result, const HostTree& values);

/// The forward pass of a layer with one input, whose variables are given by their names in the layer ("w").
HostArray forward(const Tpl<Layer>& tpl, const HostTree& variables, const HostArray& x,
                  ModelTrace::Mode mode = ModelTrace::Mode::kTrain);

/// f32 elements in order.
HostArray f32(std::initializer_list<float> values, Shape shape);
HostArray s32(std::initializer_list<int32_t> values, Shape shape);

}  // namespace pax
