#include "pax/ops/require.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "pax/base/error.h"
#include "pax/base/text.h"

namespace pax {

void require_floating(const OpCall& call, size_t operand) {
  if (is_floating(call.type(operand).dtype)) return;
  call.fail(fmt::format("operand {} is {}, but only floating types have this op; convert it first", operand,
                        to_string(call.type(operand))));
}

void require_integer(const OpCall& call, size_t operand) {
  if (is_integer(call.type(operand).dtype)) return;
  call.fail(fmt::format("operand {} is {}, but must be of an integer type; convert it first", operand,
                        to_string(call.type(operand))));
}

void require_same_dtype(const OpCall& call, size_t a, size_t b) {
  if (call.type(a).dtype == call.type(b).dtype) return;
  call.fail(fmt::format("operands must have one element type, but operand {} is {} and operand {} is {}; convert one",
                        a, to_string(call.type(a)), b, to_string(call.type(b))));
}

ResultTypes floating_operand(const OpCall& call) {
  require_floating(call, 0);
  return call.type(0);
}

ResultTypes floating_operands(const OpCall& call) {
  require_floating(call, 0);
  return same_as_operands(call);
}

ResultTypes numeric_operands(const OpCall& call) {
  if (call.type(0).dtype == DType::kPred) {
    call.fail(fmt::format("operand 0 is {}, but bool has no arithmetic; convert it first", to_string(call.type(0))));
  }
  return same_as_operands(call);
}

ResultTypes integer_operands(const OpCall& call) {
  require_integer(call, 0);
  return same_as_operands(call);
}

ResultTypes bitwise_operands(const OpCall& call) {
  if (is_floating(call.type(0).dtype)) {
    call.fail(fmt::format("operand 0 is {}, but only bool and integers have bits to combine; bitcast_convert it first",
                          to_string(call.type(0))));
  }
  return same_as_operands(call);
}

void fail_op(const Graph& graph, std::string_view op, std::string_view message) {
  const std::string& path = graph.path();
  fail<ShapeError>("{}{}: {}", path.empty() ? "" : path + ": ", op, message);
}

int64_t resolve_dim(std::string_view op, Tensor x, int64_t dim) {
  const int64_t rank = x.rank();
  if (dim < -rank || dim >= rank) {
    fail_op(x.graph(), op,
            fmt::format("dimension {} does not exist in {}, which has {}", dim, to_string(x.type()), rank));
  }
  return dim < 0 ? dim + rank : dim;
}

std::vector<int64_t> resolve_dims(std::string_view op, Tensor x, std::vector<int64_t> dims) {
  for (int64_t& dim : dims) dim = resolve_dim(op, x, dim);
  std::ranges::sort(dims);
  if (std::ranges::adjacent_find(dims) != dims.end()) {
    fail_op(x.graph(), op, fmt::format("dimensions [{}] of {} name one twice", join(dims, ","), to_string(x.type())));
  }
  return dims;
}

bool reasonable(const std::vector<int64_t>& numbers) {
  constexpr int64_t kMost = int64_t{1} << 40;
  return std::ranges::all_of(numbers, [](int64_t number) { return number > -kMost && number < kMost; });
}

std::vector<int64_t> all_dims(int64_t rank) {
  std::vector<int64_t> dims(static_cast<size_t>(rank));
  std::iota(dims.begin(), dims.end(), 0);
  return dims;
}

std::vector<int64_t> to_vector(const Shape& shape) { return {shape.begin(), shape.end()}; }

}  // namespace pax
