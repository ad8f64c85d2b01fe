#include "pax/optim/schedule.h"

#include "pax/ir/graph.h"
#include "pax/ops/constant.h"
#include "pax/optim/scalar_value.h"

namespace pax {

double Schedule::value_at(int64_t count) const {
  Graph graph;
  return scalar_value(value(full(graph, {DType::kS32, {}}, static_cast<double>(count))));
}

}  // namespace pax
