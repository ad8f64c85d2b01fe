#include "tests/golden/recorded_values.h"

namespace pax::golden {

double number_of(const config::Value& value) {
  return value.kind == config::Value::Kind::kInt ? static_cast<double>(value.integer) : value.real;
}

std::vector<int64_t> integers_of(const config::Value* value) {
  std::vector<int64_t> out;
  if (value == nullptr || !value->is_list()) return out;
  for (const config::Value& item : value->items) out.push_back(item.integer);
  return out;
}

Tolerance tolerance_of(const RecordedCase& recorded, std::string_view of) {
  const config::Value* pair = recorded.at("tolerance_rtol_atol").find(of);
  if (pair == nullptr || pair->items.size() != 2) return {};
  return {number_of(pair->items[0]), number_of(pair->items[1])};
}

}  // namespace pax::golden
