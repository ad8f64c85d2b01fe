#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "pax/ir/attr.h"
#include "pax/ir/tensor.h"

namespace pax {

class Graph;
struct OpDef;

/// What the program is written for. Ops with several forms choose by it.
struct Target {
  enum class Platform : uint8_t { kCpu, kGpu, kTpu };
  Platform platform = Platform::kCpu;
  /// Custom calls that the process has registered with the plugin may be used.
  bool kernels = false;
  /// Among them those that multiply by tiles (AMX) may be used.
  bool tile_products = false;
  /// The program is split over a mesh of devices.
  bool partitioned = false;
};

/// The types of an op's results; one type stands for the usual single result.
struct ResultTypes : std::vector<TensorType> {
  ResultTypes(TensorType one) : std::vector<TensorType>{std::move(one)} {}
  ResultTypes(std::vector<TensorType> all) : std::vector<TensorType>(std::move(all)) {}
};

/// Gradients of an op's operands in order; a null Tensor where there is none. Trailing ones may be left out.
using Grads = std::vector<Tensor>;

/// One application of an op, as its shape rule, gradient, batching rule and lowering see it.
struct OpCall {
  Graph& graph;
  const OpDef& op;
  std::vector<Tensor> operands;
  const Attrs& attrs;
  std::vector<BlockId> blocks;  ///< Regions.
  std::vector<Tensor> results;  ///< Empty for the shape rule.
  std::vector<Tensor> grads;    ///< Cotangents of the results, for the gradient; null where nothing flows.
  std::vector<bool> wanted;     ///< For the gradient: operands whose gradient will be used.

  Tensor operand(size_t i) const { return operands[i]; }
  const TensorType& type(size_t i) const { return operands[i].type(); }
  const Shape& shape(size_t i) const { return operands[i].shape(); }
  Tensor output() const { return results[0]; }
  bool wants(size_t i) const { return wanted[i]; }

  /// An attribute that must be there.
  template <class T>
  const T& attr(std::string_view name) const {
    const T* found = attrs.find<T>(name);
    if (found == nullptr) missing_attr(name);
    return *found;
  }

  /// Throws ShapeError: "layer/path: op: <message>".
  [[noreturn]] void fail(std::string_view message) const;
  [[noreturn]] void missing_attr(std::string_view name) const;
};

/// How an op behaves under transformations that need no rule of its own.
enum class OpTrait : uint8_t {
  kNone,
  /// Works element by element on operands of one shape: batches by adding the dimension.
  kElementwise,
  /// Costs nothing to do again (constants, iota, broadcasts): never kept for the gradient.
  kFree,
};

/// One op: name, shape rule and gradient together. Everything but `name` and `infer` may be absent.
struct OpDef {
  /// The StableHLO name without its dialect (`add`), or a full name (`sdy.sharding_constraint`), or our own where
  /// `lower` is given.
  std::string_view name;
  /// The result types, or throws by `call.fail`.
  ResultTypes (*infer)(const OpCall& call) = nullptr;
  /// Gradients of the operands from the first result's cotangent (all of them: `call.grads`). Written with public ops.
  Grads (*vjp)(const OpCall& call, Tensor grad) = nullptr;
  /// vmap: `call.operands` carry the batch dimension in front where `batched`; results carry it in front.
  std::vector<Tensor> (*batch)(const OpCall& call, const std::vector<bool>& batched) = nullptr;
  /// Ops that StableHLO does not have: the results built from ones that it has.
  std::vector<Tensor> (*lower)(const OpCall& call, const Target& target) = nullptr;
  OpTrait trait = OpTrait::kNone;
};

/// Builds one application of `op` where the graph is being written now and gives its first result.
/// Throws ShapeError naming layer path, op and operands.
Tensor emit(const OpDef& op, std::vector<Tensor> operands, Attrs attrs = {});

/// The same for an op without operands.
Tensor emit(Graph& graph, const OpDef& op, Attrs attrs = {});

/// The same for ops with regions or several results.
std::vector<Tensor> emit_all(Graph& graph, const OpDef& op, std::vector<Tensor> operands, Attrs attrs,
                             std::vector<BlockId> blocks);

/// Shape rules shared by many ops.
ResultTypes same_as_operand(const OpCall& call);
/// All operands of one type; gives that type.
ResultTypes same_as_operands(const OpCall& call);

}  // namespace pax
