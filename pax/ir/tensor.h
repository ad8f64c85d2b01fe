#pragma once

#include <cstdint>

#include "pax/array/shape.h"

namespace pax {

class Graph;
using ValueId = int32_t;
using NodeId = int32_t;
using BlockId = int32_t;

/// A handle of a value in a program being built: knows its graph, costs nothing to copy, holds no numbers.
class Tensor {
 public:
  Tensor() = default;
  Tensor(Graph& graph, ValueId id) : graph_(&graph), id_(id) {}

  /// False for the null handle: "no such input", "no gradient".
  explicit operator bool() const { return graph_ != nullptr; }

  Graph& graph() const { return *graph_; }
  ValueId id() const { return id_; }
  const TensorType& type() const;
  const Shape& shape() const { return type().shape; }
  DType dtype() const { return type().dtype; }
  int64_t rank() const { return shape().rank(); }
  /// Size of dimension `i`; negative counts from the end.
  int64_t dim(int64_t i) const { return shape()[i]; }

  bool operator==(const Tensor&) const = default;

 private:
  Graph* graph_ = nullptr;
  ValueId id_ = -1;
};

}  // namespace pax
