#pragma once

#include <string>
#include <vector>

#include "tests/ops/testing.h"

namespace pax {

/// A floating input: its shape and the range its numbers are drawn from.
struct RowInput {
  Shape shape;
  double low = -1, high = 1;
};

/// One row of the table that holds every gradient against central differences.
struct GradientRow {
  std::string name;
  std::vector<RowInput> inputs;
  Function function;
  double tolerance = 1e-6;
  /// Whether the gradient is differentiated once more.
  bool twice = true;
  /// Of the differences.
  double step = 1e-5;
};

inline void PrintTo(const GradientRow& row, std::ostream* out) { *out << row.name; }

std::vector<GradientRow> elementwise_rows();
std::vector<GradientRow> shape_rows();
std::vector<GradientRow> index_rows();
std::vector<GradientRow> reduce_rows();
std::vector<GradientRow> product_rows();

std::vector<GradientRow> all_rows();

}  // namespace pax
