#include "pax/ir/print.h"

#include <fmt/format.h>

#include "pax/base/text.h"
#include "pax/ir/transform.h"

namespace pax {
namespace {

using Dims = std::vector<int64_t>;

std::string pairs_text(const PaddingPairs& padding) {
  std::vector<std::string> parts;
  for (const auto& [low, high] : padding.pairs) parts.push_back(fmt::format("{}:{}", low, high));
  return fmt::format("[{}]", join(parts, ","));
}

/// An attribute as one reads it; nothing for those that only rules need.
struct ReadableAttr {
  std::string operator()(bool value) const { return value ? "true" : ""; }
  std::string operator()(int64_t value) const { return fmt::format("{}", value); }
  std::string operator()(double value) const { return fmt::format("{}", value); }
  std::string operator()(DType) const { return ""; }
  std::string operator()(const std::string& value) const { return value; }
  std::string operator()(const Dims& value) const { return fmt::format("[{}]", join(value, ",")); }
  std::string operator()(const std::vector<bool>&) const { return ""; }
  std::string operator()(const DotDims& dims) const {
    std::string out = fmt::format("[{}]x[{}]", join(dims.lhs_contract, ","), join(dims.rhs_contract, ","));
    if (!dims.lhs_batch.empty())
      out += fmt::format(" batch [{}]x[{}]", join(dims.lhs_batch, ","), join(dims.rhs_batch, ","));
    return out;
  }
  std::string operator()(const GatherDims& dims) const {
    return fmt::format("dims [{}] window [{}]", join(dims.index_map, ","), join(dims.window, ","));
  }
  std::string operator()(const ScatterDims& dims) const { return (*this)(static_cast<const GatherDims&>(dims)); }
  std::string operator()(const ConvDims&) const { return ""; }
  std::string operator()(const PaddingPairs& padding) const { return pairs_text(padding); }
  std::string operator()(const Combiner& combiner) const { return std::string(combiner.op); }
  /// `#stablehlo<comparison_direction LT>` is LT.
  std::string operator()(const Mlir& mlir) const {
    const size_t end = mlir.text.find('>');
    const size_t begin = mlir.text.rfind(' ', end);
    if (end == std::string::npos || begin == std::string::npos) return mlir.text;
    return mlir.text.substr(begin + 1, end - begin - 1);
  }
  std::string operator()(const HostArray& array) const {
    if (array.shape().num_elements() != 1) return "…";
    return fmt::format("{}", array.to_doubles()[0]);
  }
  std::string operator()(const Sharding& sharding) const { return to_shardy(sharding); }
  std::string operator()(const std::shared_ptr<const OpExtension>&) const { return ""; }
};

class Printer {
 public:
  explicit Printer(const Graph& graph) : graph_(graph), live_(live_values(graph)), names_(graph.num_values(), -1) {}

  std::string print() {
    for (const Argument& arg : graph_.arguments()) {
      line(fmt::format("{} = argument {} : {}", name(arg.value), arg.name, type(arg.value)));
    }
    print_nodes(0);
    for (const Output& out : graph_.outputs()) line(fmt::format("output {} = {}", out.name, name(out.value)));
    return std::move(out_);
  }

 private:
  std::string name(ValueId id) {
    int32_t& number = names_[static_cast<size_t>(id)];
    if (number < 0) number = next_++;
    return fmt::format("%{}", number);
  }

  std::string type(ValueId id) const { return to_string(graph_.value(id).type); }

  std::string names(const std::vector<ValueId>& ids) {
    std::vector<std::string> parts;
    for (const ValueId id : ids) parts.push_back(name(id));
    return join(parts, ", ");
  }

  void line(std::string_view text) { out_ += fmt::format("{:{}}{}\n", "", 2 * depth_, text); }

  bool is_live(const Node& node) const {
    for (const ValueId id : node.results) {
      if (live_[static_cast<size_t>(id)]) return true;
    }
    return false;
  }

  std::string attrs(const Node& node) const {
    std::string out;
    for (const auto& [key, value] : node.attrs) {
      if (key == "_shape" || key == "compare_type") continue;
      const std::string text = std::visit(ReadableAttr{}, value);
      if (text.empty() || text == "[]") continue;
      const bool says_itself = std::holds_alternative<DotDims>(value) || std::holds_alternative<Mlir>(value) ||
                               std::holds_alternative<Combiner>(value) || std::holds_alternative<HostArray>(value);
      const std::string_view shown = key.starts_with('_') ? key.substr(1) : key;
      out += says_itself ? " " + text : fmt::format(" {}={}", shown, text);
    }
    return out;
  }

  void print_nodes(BlockId block) {
    for (const NodeId id : graph_.block(block).nodes) {
      const Node& node = graph_.node(id);
      if (!is_live(node)) continue;
      if (node.path != path_) {
        path_ = node.path;
        line(fmt::format("# {}", graph_.path_name(path_).empty() ? "(no layer)" : graph_.path_name(path_)));
      }
      std::vector<std::string> types;
      for (const ValueId result : node.results) types.push_back(type(result));
      line(fmt::format("{} = {}({}){} : {}", names(node.results), node.op->name, names(node.operands), attrs(node),
                       join(types, ", ")));
      for (const BlockId inner : node.blocks) print_block(inner);
    }
  }

  void print_block(BlockId id) {
    const Block& block = graph_.block(id);
    ++depth_;
    std::vector<std::string> args;
    for (const ValueId arg : block.args) args.push_back(fmt::format("{}: {}", name(arg), type(arg)));
    line(fmt::format("({}) {{", join(args, ", ")));
    ++depth_;
    print_nodes(id);
    --depth_;
    line(fmt::format("}} -> {}", names(block.results)));
    --depth_;
  }

  const Graph& graph_;
  const std::vector<bool> live_;
  std::vector<int32_t> names_;
  std::string out_;
  int depth_ = 0;
  int32_t next_ = 0;
  int32_t path_ = -1;
};

}  // namespace

std::string to_readable(const Graph& graph) { return Printer(graph).print(); }

}  // namespace pax
