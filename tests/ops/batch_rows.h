#pragma once

#include <string>
#include <vector>

#include "tests/ops/gradient_rows.h"

namespace pax {

/// An input of any type and the range its numbers are drawn from.
struct BatchInput {
  TensorType type;
  double low = -1, high = 1;
};

/// One row of the table that holds every op on a batch against its elements one by one.
struct BatchRow {
  std::string name;
  std::vector<BatchInput> inputs;
  Function function;
};

inline void PrintTo(const BatchRow& row, std::ostream* out) { *out << row.name; }

/// Ops without a gradient, and inputs that have none.
std::vector<BatchRow> rows_without_gradient();

/// The rows of the gradient table, outputs and gradients, and those without.
std::vector<BatchRow> all_batch_rows();

}  // namespace pax
