#include "tests/ops/gradient_rows.h"

namespace pax {

std::vector<GradientRow> all_rows() {
  std::vector<GradientRow> all;
  for (const auto& rows : {elementwise_rows(), shape_rows(), index_rows(), reduce_rows(), product_rows()}) {
    all.insert(all.end(), rows.begin(), rows.end());
  }
  return all;
}

}  // namespace pax
