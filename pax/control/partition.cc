#include "pax/control/partition.h"

#include <algorithm>
#include <unordered_set>

namespace pax {
namespace {

class Cut {
 public:
  Cut(const Graph& graph, BlockId joint, const std::vector<ValueId>& late, const std::vector<ValueId>& always_kept,
      const RematPolicy* policy)
      : graph_(graph),
        joint_(joint),
        late_(late.begin(), late.end()),
        kept_args_(always_kept.begin(), always_kept.end()),
        policy_(policy) {
    for (const NodeId id : graph_.block(joint_).nodes) {
      const Node& node = graph_.node(id);
      const bool is_late = std::ranges::any_of(node.operands, [&](ValueId operand) { return late_.contains(operand); });
      if (is_late) late_.insert(node.results.begin(), node.results.end());
      if (!is_late) out_.early.push_back(id);
    }
  }

  Partition run(const std::vector<ValueId>& wanted) {
    for (const ValueId id : wanted) need(id);
    for (const NodeId id : graph_.block(joint_).nodes) {
      if (second_.contains(id)) out_.second.push_back(id);
    }
    return std::move(out_);
  }

 private:
  /// Marks what the second part needs in order to have `id`.
  void need(ValueId id) {
    std::vector<ValueId> open{id};
    while (!open.empty()) {
      const ValueId at = open.back();
      open.pop_back();
      if (!seen_.insert(at).second) continue;
      const Value& value = graph_.value(at);
      if (value.node < 0) {
        if (late_.contains(at)) continue;
        (kept_args_.contains(at) ? out_.residuals : out_.read_args).push_back(at);
        continue;
      }
      const Node& node = graph_.node(value.node);
      if (!late_.contains(at) && is_kept(node)) {
        out_.residuals.push_back(at);
        continue;
      }
      second_.insert(value.node);
      open.insert(open.end(), node.operands.begin(), node.operands.end());
    }
  }

  bool is_kept(const Node& node) const {
    if (policy_ != nullptr) return policy_->keeps(node);
    return node.op->trait != OpTrait::kFree;
  }

  const Graph& graph_;
  const BlockId joint_;
  std::unordered_set<ValueId> late_;
  const std::unordered_set<ValueId> kept_args_;
  const RematPolicy* policy_;
  std::unordered_set<ValueId> seen_;
  std::unordered_set<NodeId> second_;
  Partition out_;
};

}  // namespace

Partition partition(const Graph& graph, BlockId joint, const std::vector<ValueId>& wanted,
                    const std::vector<ValueId>& late, const std::vector<ValueId>& always_kept,
                    const RematPolicy* policy) {
  return Cut(graph, joint, late, always_kept, policy).run(wanted);
}

}  // namespace pax
