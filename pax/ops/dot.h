#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pax/ir/op.h"

namespace pax {

enum class Precision : uint8_t { kDefault, kHigh, kHighest };

struct DotOptions {
  /// Element type of the sums and the result; unset: that of the operands.
  std::optional<DType> preferred;
  Precision precision = Precision::kDefault;
};

/// The attribute text that asks for `precision` of both operands; empty for the default.
std::string precision_config(Precision precision);

/// StableHLO's dot_general: the result's dimensions are the batch ones, then those left of `lhs`, then of `rhs`.
/// Gradients are taken in the operands' element type.
Tensor dot_general(Tensor lhs, Tensor rhs, DotDims dims, DotOptions options = {});

/// NumPy's matmul: the last dimension of `a` against the last but one of `b`; those before broadcast.
Tensor matmul(Tensor a, Tensor b, DotOptions options = {});

/// Einstein's sums: `einsum("btd,df->btf", x, w)`. Letters that are missing right of the arrow are summed over,
/// `...` stands for dimensions in front that broadcast, a letter twice in one operand takes the diagonal. Several
/// operands are multiplied in the order that keeps what is between small. Throws ShapeError naming the letter and both
/// sizes.
Tensor einsum(std::string_view equation, std::vector<Tensor> operands, DotOptions options = {});
Tensor einsum(std::string_view equation, Tensor a, Tensor b, DotOptions options = {});
Tensor einsum(std::string_view equation, Tensor a);

}  // namespace pax
