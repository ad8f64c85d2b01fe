#include "pax/control/check_finite.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "pax/ir/transform.h"
#include "pax/ops/constant.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/logic.h"
#include "pax/ops/reduce.h"

namespace pax {
namespace {

/// Ops that hand elements on as they are: whether results are finite follows from the operands.
bool only_moves(std::string_view op) {
  constexpr std::string_view kMovers[] = {"broadcast_in_dim",
                                          "reshape",
                                          "transpose",
                                          "slice",
                                          "reverse",
                                          "concatenate",
                                          "dynamic_slice",
                                          "gather",
                                          "optimization_barrier",
                                          "sort",
                                          "dynamic_update_slice"};
  return std::ranges::find(kMovers, op) != std::end(kMovers);
}

class Checker {
 public:
  Checker(const Graph& from, Graph& to) : from_(from), to_(to) {}

  std::vector<std::string> run() {
    first_ = number(-1);
    for (const Argument& arg : from_.arguments()) {
      const Tensor copy = to_.argument(arg.name, from_.value(arg.value).type, arg.sharding);
      map_[arg.value] = copy.id();
      Tensor finite = measure(copy);
      if (finite) note_fault(logical_not(finite), fmt::format("argument {} {}", arg.name, to_string(copy.type())));
    }
    copy_nodes(0);
    for (const Output& out : from_.outputs()) to_.output(out.name, to_.tensor(map_.at(out.value)), out.sharding);
    to_.output(kFirstNonFinite, first_);
    return std::move(sites_);
  }

 private:
  Tensor number(double value) { return full(to_, {DType::kS32, {}}, value); }

  /// Whether all elements are finite; null for types that always are.
  Tensor measure(Tensor value) {
    if (!is_floating(value.dtype())) return {};
    const Tensor bits = is_finite(value);
    std::vector<int64_t> dims;
    for (int64_t i = 0; i < bits.rank(); ++i) dims.push_back(i);
    return finite_[value.id()] = dims.empty() ? bits : reduce_and(bits, dims);
  }

  /// Of all that are floating; null if none is.
  Tensor all_finite(const std::vector<ValueId>& values) {
    Tensor all;
    for (const ValueId id : values) {
      const auto known = finite_.find(id);
      if (known == finite_.end()) continue;
      all = all ? logical_and(all, known->second) : known->second;
    }
    return all;
  }

  void note_fault(Tensor fault, std::string site) {
    const Tensor here = logical_and(fault, lt(first_, 0.0));
    first_ = select(here, number(static_cast<double>(sites_.size())), first_);
    sites_.push_back(std::move(site));
  }

  void copy_nodes(BlockId block) {
    const std::vector<NodeId>& nodes = from_.block(block).nodes;
    for (const NodeId id : nodes) {
      const Node& node = from_.node(id);
      const Graph::PathGuard path(to_, to_.path_of(from_.path_name(node.path)));
      if (node.op->name == "while") {
        copy_while(node);
      } else if (node.op->name == "case") {
        copy_case(node);
      } else {
        copy_checked(id, node);
      }
    }
  }

  void copy_checked(NodeId id, const Node& node) {
    clone_node(from_, id, to_, map_);
    std::vector<ValueId> operands, results;
    for (const ValueId operand : node.operands) operands.push_back(map_.at(operand));
    for (const ValueId result : node.results) results.push_back(map_.at(result));
    const Tensor before = all_finite(operands);
    if (only_moves(node.op->name) && before) {
      for (const ValueId result : results) {
        if (is_floating(to_.value(result).type.dtype)) finite_[result] = before;
      }
      return;
    }
    for (const ValueId result : results) measure(to_.tensor(result));
    const Tensor after = all_finite(results);
    if (!after || operands.empty()) return;
    const std::string& layer = from_.path_name(node.path);
    const Tensor fault = before ? logical_and(before, logical_not(after)) : logical_not(after);
    note_fault(fault, fmt::format("{}{}{} {}", layer, layer.empty() ? "" : ": ", node.op->name,
                                  to_string(to_.value(results[0]).type)));
  }

  /// Copies a region; its last argument and result is the number of the first fault.
  BlockId copy_region(BlockId block, bool with_argument, bool with_result) {
    const BlockId copy = to_.add_block(to_.current_block());
    const Tensor outer = first_;
    const Graph::BlockGuard guard(to_, copy);
    std::vector<Tensor> args;
    for (const ValueId arg : from_.block(block).args) {
      args.push_back(to_.add_block_arg(copy, from_.value(arg).type));
      map_[arg] = args.back().id();
    }
    if (with_argument) first_ = to_.add_block_arg(copy, outer.type());
    for (const Tensor& arg : args) measure(arg);
    copy_nodes(block);
    for (const ValueId result : from_.block(block).results) to_.block(copy).results.push_back(map_.at(result));
    if (with_result) to_.block(copy).results.push_back(first_.id());
    first_ = outer;
    return copy;
  }

  void copy_while(const Node& node) {
    const BlockId condition = copy_region(node.blocks[0], true, false);
    const BlockId body = copy_region(node.blocks[1], true, true);
    add_threaded(node, {condition, body}, true);
  }

  void copy_case(const Node& node) {
    std::vector<BlockId> blocks;
    for (const BlockId block : node.blocks) blocks.push_back(copy_region(block, false, true));
    add_threaded(node, std::move(blocks), false);
  }

  void add_threaded(const Node& node, std::vector<BlockId> blocks, bool with_operand) {
    Node copy{.op = node.op, .attrs = node.attrs, .blocks = std::move(blocks)};
    std::vector<TensorType> types;
    for (const ValueId operand : node.operands) copy.operands.push_back(map_.at(operand));
    if (with_operand) copy.operands.push_back(first_.id());
    for (const ValueId result : node.results) types.push_back(from_.value(result).type);
    types.push_back(first_.type());
    const NodeId id = to_.add_node(std::move(copy), types);
    const std::vector<ValueId> results = to_.node(id).results;
    for (size_t i = 0; i < node.results.size(); ++i) {
      map_[node.results[i]] = results[i];
      measure(to_.tensor(results[i]));
    }
    first_ = to_.tensor(results.back());
  }

  const Graph& from_;
  Graph& to_;
  ValueMap map_;
  std::unordered_map<ValueId, Tensor> finite_;
  Tensor first_;
  std::vector<std::string> sites_;
};

}  // namespace

CheckedProgram check_finite(const Graph& lowered) {
  CheckedProgram checked{.graph = std::make_unique<Graph>(), .sites = {}};
  Graph marked;
  checked.sites = Checker(lowered, marked).run();
  checked.graph = lower(marked, {});
  return checked;
}

}  // namespace pax
