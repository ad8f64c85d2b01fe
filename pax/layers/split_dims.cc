#include "pax/layers/split_dims.h"

#include "pax/base/error.h"

namespace pax {
namespace {

void set_entry(config::AnyTpl& tpl, std::string_view mapping, std::string_view name, const Axes& axes) {
  if (axes.empty() || !tpl.has_field(mapping)) return;
  auto entries = tpl.get<std::map<std::string, SplitDims>>(mapping);
  entries[std::string(name)] = to_split_dims(axes);
  tpl.set(mapping, entries);
}

}  // namespace

SplitDims to_split_dims(const Axes& axes) {
  if (axes.empty()) return std::nullopt;
  std::vector<DimSplit> dims;
  for (const std::vector<std::string>& dim : axes) {
    if (dim.empty()) {
      dims.emplace_back();
    } else if (dim.size() == 1) {
      dims.emplace_back(dim[0]);
    } else {
      dims.emplace_back(dim);
    }
  }
  return dims;
}

Axes pick(const Axes& axes, std::initializer_list<size_t> dims, std::string_view what) {
  Axes picked;
  if (axes.empty()) return picked;
  for (const size_t dim : dims) {
    if (dim >= axes.size()) {
      fail<ConfigError>("{}: the split has {} dimensions, dimension {} is needed", what, axes.size(), dim);
    }
    picked.push_back(axes[dim]);
  }
  return picked;
}

Axes merge(Axes axes, size_t first) {
  if (first + 1 >= axes.size()) return axes;
  axes[first].insert(axes[first].end(), axes[first + 1].begin(), axes[first + 1].end());
  axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(first) + 1);
  return axes;
}

void set_weight_split(config::AnyTpl& tpl, std::string_view name, const Axes& axes) {
  set_entry(tpl, "weight_split_dims_mapping", name, axes);
}

void set_activation_split(config::AnyTpl& tpl, std::string_view name, const Axes& axes) {
  set_entry(tpl, "activation_split_dims_mapping", name, axes);
}

}  // namespace pax
