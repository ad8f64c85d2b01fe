#include "tests/layers/some_values.h"

namespace pax {

HostTree some_values(const TracedLayer& traced) {
  HostTree values;
  uint32_t state = 1;
  for (const Argument& argument : traced.graph.arguments()) {
    const TensorType& type = traced.graph.value(argument.value).type;
    if (!is_floating(type.dtype)) continue;
    std::vector<double> numbers(static_cast<size_t>(type.shape.num_elements()));
    for (double& number : numbers) {
      state = state * 1664525u + 1013904223u;
      number = static_cast<double>(state >> 8) / (1 << 24) - 0.5;
    }
    values[argument.name] = from_doubles(numbers, type);
  }
  return values;
}

}  // namespace pax
