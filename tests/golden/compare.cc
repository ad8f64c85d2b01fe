#include "tests/golden/compare.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "pax/base/text.h"

namespace pax::golden {
namespace {

std::string index_text(int64_t flat, const Shape& shape) {
  std::vector<int64_t> index(static_cast<size_t>(shape.rank()));
  for (int64_t d = shape.rank() - 1; d >= 0; --d) {
    index[static_cast<size_t>(d)] = flat % shape[d];
    flat /= shape[d];
  }
  return fmt::format("[{}]", join(index, ","));
}

/// By how many tolerances two numbers differ: 1 is the limit.
double excess(double got, double expected, const Tolerance& tolerance) {
  if (got == expected || (std::isnan(got) && std::isnan(expected))) return 0;
  const double difference = std::abs(got - expected);
  if (!std::isfinite(difference)) return std::numeric_limits<double>::infinity();
  return difference / (tolerance.absolute + tolerance.relative * std::abs(expected));
}

}  // namespace

std::string compare(std::string_view name, const HostArray& got, const HostArray& expected,
                    const Tolerance& tolerance) {
  if (got.shape() != expected.shape()) {
    return fmt::format("{} is {} but {} is expected", name, to_string(got.type()), to_string(expected.type()));
  }
  const Tolerance allowed = is_floating(expected.dtype()) ? tolerance : Tolerance{};
  const std::vector<double> a = got.to_doubles(), b = expected.to_doubles();
  size_t worst = 0, off = 0;
  double largest = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double e = excess(a[i], b[i], allowed);
    if (e > 1) ++off;
    if (e > largest) largest = e, worst = i;
  }
  if (off == 0) return "";
  return fmt::format("{}{} is {:.9g} but {:.9g} is expected ({} of {} are off)", name,
                     index_text(static_cast<int64_t>(worst), got.shape()), a[worst], b[worst], off, a.size());
}

}  // namespace pax::golden
