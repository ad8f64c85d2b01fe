#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pax/ir/graph.h"

namespace pax {

// Shape rules and checks that many ops share. All throw ShapeError naming layer path, op and operand types.

/// One operand of a floating type; the result has its type.
ResultTypes floating_operand(const OpCall& call);
/// All operands of one floating type.
ResultTypes floating_operands(const OpCall& call);
/// All operands of one type that is a number: not bool.
ResultTypes numeric_operands(const OpCall& call);
/// All operands of one integer type.
ResultTypes integer_operands(const OpCall& call);
/// All operands of one integer type or bool.
ResultTypes bitwise_operands(const OpCall& call);

void require_floating(const OpCall& call, size_t operand);
void require_integer(const OpCall& call, size_t operand);
void require_same_dtype(const OpCall& call, size_t a, size_t b);

/// Throws ShapeError "layer/path: op: message", for checks outside of a shape rule.
[[noreturn]] void fail_op(const Graph& graph, std::string_view op, std::string_view message);

/// `dim` counted from the start, for a value of `rank` dimensions; throws when there is no such dimension.
int64_t resolve_dim(std::string_view op, Tensor x, int64_t dim);
/// The same for several, sorted; throws when one occurs twice.
std::vector<int64_t> resolve_dims(std::string_view op, Tensor x, std::vector<int64_t> dims);

/// False when a number is so large that sums and products with it may overflow: no size, stride or place is.
bool reasonable(const std::vector<int64_t>& numbers);

/// 0, 1, …, rank - 1.
std::vector<int64_t> all_dims(int64_t rank);
std::vector<int64_t> to_vector(const Shape& shape);

}  // namespace pax
