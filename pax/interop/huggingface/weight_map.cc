#include "pax/interop/huggingface/weight_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "pax/base/error.h"
#include "pax/base/text.h"

namespace pax::hf {
namespace {

/// Slices [start, start + size) of dimension `axis`, or, with `into`, their place in a larger array.
struct AxisSlices {
  size_t outer, row, begin, length;  ///< bytes of a row of the whole, and of the slices in it

  AxisSlices(const TensorType& whole, const WeightPart& part) {
    outer = 1;
    size_t inner = byte_size(whole.dtype);
    for (int64_t i = 0; i < whole.shape.rank(); ++i) {
      (i < part.axis ? outer : inner) *= static_cast<size_t>(i == part.axis ? 1 : whole.shape[i]);
    }
    row = inner * static_cast<size_t>(whole.shape[part.axis]);
    begin = inner * static_cast<size_t>(part.start);
    length = inner * static_cast<size_t>(part.size);
  }
};

HostArray take_slices(const HostArray& whole, const WeightPart& part) {
  if (part.axis >= whole.shape().rank() || part.start + part.size > whole.shape()[part.axis]) {
    fail<RuntimeError>("shape {} has no {} slices from {} in dimension {}", to_string(whole.shape()), part.size,
                       part.start, part.axis);
  }
  Shape shape = whole.shape();
  shape[part.axis] = part.size;
  HostArray out({whole.dtype(), shape});
  const AxisSlices at(whole.type(), part);
  for (size_t i = 0; i < at.outer; ++i) {
    std::memcpy(out.mutable_bytes().data() + i * at.length, whole.bytes().data() + i * at.row + at.begin, at.length);
  }
  return out;
}

/// Entry `i` of the first dimension.
HostArray entry(const HostArray& array, int64_t i) {
  HostArray out({array.dtype(), array.shape().without(0)});
  std::memcpy(out.mutable_bytes().data(), array.bytes().data() + static_cast<size_t>(i) * out.size_bytes(),
              out.size_bytes());
  return out;
}

/// The bytes of `array` that `indices` of its leading dimensions choose.
std::pair<size_t, size_t> range_of(const TensorType& type, const std::vector<int64_t>& indices) {
  size_t length = byte_size(type.dtype) * static_cast<size_t>(type.shape.num_elements());
  size_t begin = 0;
  for (size_t k = 0; k < indices.size(); ++k) {
    length /= static_cast<size_t>(type.shape[static_cast<int64_t>(k)]);
    begin += static_cast<size_t>(indices[k]) * length;
  }
  return {begin, length};
}

Shape without_leading(const Shape& shape, size_t count) {
  return Shape(std::vector<int64_t>(shape.begin() + static_cast<int64_t>(count), shape.end()));
}

/// Shapes without dimensions of 1: some variables drop them.
Shape squeezed(const Shape& shape) {
  Shape out;
  for (const int64_t dim : shape) {
    if (dim != 1) out.push_back(dim);
  }
  return out;
}

/// What `part` takes of `tensor`, in the order of its variable.
HostArray part_of(const HostArray& tensor, const WeightPart& part, const Sizes& sizes) {
  const HostArray own = part.axis < 0 ? tensor : take_slices(tensor, part);
  const HostArray ordered = rearrange(own, part.pattern, sizes);
  return part.pick < 0 ? ordered : entry(ordered, part.pick);
}

/// The name under which the file has `tensor`, "" when it has none.
std::string stored_name(const WeightMap& map, const Tree<TensorType>& names, const std::string& tensor) {
  if (names.contains(tensor)) return tensor;
  if (!map.prefix.empty() && tensor.starts_with(map.prefix) && names.contains(tensor.substr(map.prefix.size()))) {
    return tensor.substr(map.prefix.size());
  }
  return "";
}

void require_all(const WeightMap& map, const Tree<TensorType>& types, const Tree<TensorType>& names) {
  std::vector<std::string> missing;
  std::set<std::string, std::less<>> filled;
  for (const WeightRow& row : map.rows) {
    if (stored_name(map, names, row.tensor).empty()) missing.push_back(row.tensor);
    for (const WeightPart& part : row.parts) filled.insert(part.variable);
  }
  if (!missing.empty()) {
    const size_t count = missing.size();
    if (count > 10) missing.resize(10);
    fail<RuntimeError>("the files lack {} of the model's {} tensors: {}{}", count, map.rows.size(), join(missing, ", "),
                       count > 10 ? ", ..." : "");
  }
  for (const auto& [name, type] : types) {
    if (!filled.contains(name)) fail<RuntimeError>("the model's variable {} corresponds to no tensor", name);
  }
}

}  // namespace

HostTree import_weights(const WeightMap& map, const Tree<TensorType>& types, const Tree<TensorType>& names,
                        const TensorSource& tensor, std::vector<std::string>& unused) {
  require_all(map, types, names);
  HostTree out;
  std::set<std::string, std::less<>> used;
  for (const WeightRow& row : map.rows) {
    const std::string stored = stored_name(map, names, row.tensor);
    used.insert(stored);
    const HostArray values = tensor(stored);
    for (const WeightPart& part : row.parts) {
      const auto type = types.find(part.variable);
      if (type == types.end()) fail<RuntimeError>("{}: the model has no variable {}", stored, part.variable);
      HostArray& variable = out.try_emplace(part.variable, type->second).first->second;
      const Shape wanted = without_leading(variable.shape(), part.indices.size());
      HostArray piece;
      try {
        piece = part_of(values, part, map.sizes);
      } catch (const RuntimeError& error) {
        fail<RuntimeError>("tensor {}: {}", stored, error.what());
      }
      if (squeezed(piece.shape()) != squeezed(wanted)) {
        fail<RuntimeError>("tensor {} is {}, which gives {} for {}; the config asks for {}", stored,
                           to_string(values.type()), to_string(piece.shape()), part.variable, to_string(wanted));
      }
      if (piece.dtype() != variable.dtype()) piece = piece.converted(variable.dtype());
      const auto [begin, length] = range_of(variable.type(), part.indices);
      std::memcpy(variable.mutable_bytes().data() + begin, piece.bytes().data(), length);
    }
  }
  for (const auto& [name, type] : names) {
    const bool known = std::ranges::any_of(map.ignored, [&](const std::string& end) { return name.ends_with(end); });
    if (!known && !used.contains(name)) unused.push_back(name);
  }
  return out;
}

namespace {

/// The piece of a variable that `part` stands for, with the dimensions that the pattern gives.
HostArray piece_of(const HostTree& variables, const WeightPart& part, const Sizes& sizes) {
  const auto at = variables.find(part.variable);
  if (at == variables.end()) fail<RuntimeError>("there is no variable {}", part.variable);
  const HostArray& variable = at->second;
  const auto [begin, length] = range_of(variable.type(), part.indices);
  HostArray piece({variable.dtype(), without_leading(variable.shape(), part.indices.size())});
  std::memcpy(piece.mutable_bytes().data(), variable.bytes().data() + begin, length);
  // Variables drop dimensions of 1 that the pattern has.
  const std::string back = inverse(part.pattern);
  std::string_view dims = std::string_view(back).substr(part.pick < 0 ? 0 : 2);
  dims = dims.substr(0, dims.find(" ->"));
  const auto spaces = static_cast<int64_t>(std::ranges::count(dims, ' '));
  if (dims.find('(') != std::string_view::npos || spaces + 1 == piece.shape().rank()) return piece;
  Shape shape;
  int64_t k = 0;
  for (const char letter : dims) {
    if (letter == ' ') continue;
    const auto known = sizes.find(letter);
    shape.push_back(known != sizes.end() && known->second == 1 ? 1 : piece.shape()[k++]);
  }
  return piece.reshaped(shape);
}

/// Several arrays as one with a new first dimension.
HostArray stacked(const std::vector<HostArray>& parts) {
  Shape shape = parts[0].shape().prefixed(std::vector<int64_t>{static_cast<int64_t>(parts.size())});
  HostArray out({parts[0].dtype(), shape});
  for (size_t i = 0; i < parts.size(); ++i) {
    std::memcpy(out.mutable_bytes().data() + i * parts[i].size_bytes(), parts[i].bytes().data(), parts[i].size_bytes());
  }
  return out;
}

HostArray tensor_of(const WeightRow& row, const HostTree& variables, const Sizes& sizes) {
  const WeightPart& first = row.parts[0];
  if (first.pick >= 0) {
    std::vector<HostArray> picks(row.parts.size());
    for (const WeightPart& part : row.parts) {
      picks[static_cast<size_t>(part.pick)] = piece_of(variables, part, sizes);
    }
    Sizes all = sizes;
    all[first.pattern[first.pattern.find("-> ") + 3]] = static_cast<int64_t>(picks.size());
    return rearrange(stacked(picks), inverse(first.pattern), all);
  }
  if (first.axis < 0) return rearrange(piece_of(variables, first, sizes), inverse(first.pattern), sizes);
  HostArray whole;
  for (const WeightPart& part : row.parts) {
    const HostArray piece = rearrange(piece_of(variables, part, sizes), inverse(part.pattern), sizes);
    if (whole.size_bytes() == 0 || whole.shape().rank() == 0) {
      Shape shape = piece.shape();
      shape[part.axis] = 0;
      for (const WeightPart& each : row.parts) shape[part.axis] += each.size;
      whole = HostArray({piece.dtype(), shape});
    }
    const AxisSlices at(whole.type(), part);
    for (size_t i = 0; i < at.outer; ++i) {
      std::memcpy(whole.mutable_bytes().data() + i * at.row + at.begin, piece.bytes().data() + i * at.length,
                  at.length);
    }
  }
  return whole;
}

}  // namespace

HostTree export_weights(const WeightMap& map, const HostTree& variables) {
  HostTree out;
  for (const WeightRow& row : map.rows) {
    try {
      out[row.tensor] = tensor_of(row, variables, map.sizes);
    } catch (const RuntimeError& error) {
      fail<RuntimeError>("tensor {}: {}", row.tensor, error.what());
    }
  }
  return out;
}

}  // namespace pax::hf
