#include "pax/optim/scalar_value.h"

#include <cmath>
#include <functional>
#include <unordered_map>

#include "pax/base/error.h"
#include "pax/ir/graph.h"

namespace pax {
namespace {

using Numbers = std::vector<double>;

bool compare(std::string_view direction, double a, double b) {
  if (direction.find("EQ") != std::string_view::npos) return a == b;
  if (direction.find("NE") != std::string_view::npos) return a != b;
  if (direction.find("LT") != std::string_view::npos) return a < b;
  if (direction.find("LE") != std::string_view::npos) return a <= b;
  if (direction.find("GT") != std::string_view::npos) return a > b;
  return a >= b;
}

double divide(const Node& node, const Graph& graph, double a, double b) {
  return is_floating(graph.value(node.results[0]).type.dtype) ? a / b : std::trunc(a / b);
}

double apply(const Graph& graph, const Node& node, const Numbers& x) {
  const std::string_view op = node.op->name;
  if (op == "constant") return node.attrs.find<HostArray>("value")->item();
  if (op == "broadcast_in_dim" || op == "reshape") return x[0];
  if (op == "convert") return is_floating(graph.value(node.results[0]).type.dtype) ? x[0] : std::trunc(x[0]);
  if (op == "add") return x[0] + x[1];
  if (op == "subtract") return x[0] - x[1];
  if (op == "multiply") return x[0] * x[1];
  if (op == "divide") return divide(node, graph, x[0], x[1]);
  if (op == "remainder") return std::fmod(x[0], x[1]);
  if (op == "maximum") return std::max(x[0], x[1]);
  if (op == "minimum") return std::min(x[0], x[1]);
  if (op == "power") return std::pow(x[0], x[1]);
  if (op == "negate") return -x[0];
  if (op == "sign") return x[0] > 0 ? 1 : x[0] < 0 ? -1 : 0;
  if (op == "abs") return std::abs(x[0]);
  if (op == "exponential") return std::exp(x[0]);
  if (op == "log") return std::log(x[0]);
  if (op == "cosine") return std::cos(x[0]);
  if (op == "sqrt") return std::sqrt(x[0]);
  if (op == "rsqrt") return 1 / std::sqrt(x[0]);
  if (op == "compare") return compare(node.attrs.find<Mlir>("comparison_direction")->text, x[0], x[1]);
  if (op == "select") return x[0] != 0 ? x[1] : x[2];
  fail<ShapeError>("{} cannot be computed on the host; a schedule is arithmetic of scalars", op);
}

}  // namespace

double scalar_value(Tensor scalar) {
  const Graph& graph = scalar.graph();
  std::unordered_map<ValueId, double> known;
  const std::function<double(ValueId)> number = [&](ValueId id) {
    if (const auto at = known.find(id); at != known.end()) return at->second;
    const Value& value = graph.value(id);
    if (value.node < 0 || value.type.shape.rank() != 0) {
      fail<ShapeError>("{} is no scalar made of constants", to_string(value.type));
    }
    const Node& node = graph.node(value.node);
    Numbers operands;
    for (const ValueId operand : node.operands) operands.push_back(number(operand));
    const double exact = apply(graph, node, operands);
    const double rounded = from_doubles(std::span(&exact, 1), {value.type.dtype, {}}).item();
    return known[id] = rounded;
  };
  return number(scalar.id());
}

}  // namespace pax
