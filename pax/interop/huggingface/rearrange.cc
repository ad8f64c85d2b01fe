#include "pax/interop/huggingface/rearrange.h"

#include <cstring>
#include <string>
#include <vector>

#include "pax/base/error.h"

namespace pax::hf {
namespace {

constexpr std::string_view kArrow = " -> ";

/// The letters of each dimension.
std::vector<std::string> dimensions(std::string_view side) {
  std::vector<std::string> out;
  bool inside = false;
  for (const char c : side) {
    if (c == '(') {
      inside = true;
      out.emplace_back();
    } else if (c == ')') {
      inside = false;
    } else if (c != ' ') {
      if (inside) {
        out.back() += c;
      } else {
        out.emplace_back(1, c);
      }
    }
  }
  return out;
}

/// Sizes of all letters on the left, from the array's shape and what is known.
Sizes solve(const Shape& shape, const std::vector<std::string>& dims, std::string_view pattern, const Sizes& known) {
  if (static_cast<size_t>(shape.rank()) != dims.size()) {
    fail<RuntimeError>("shape {} does not fit \"{}\": it has {} dimensions instead of {}", to_string(shape), pattern,
                       shape.rank(), dims.size());
  }
  Sizes sizes;
  for (size_t i = 0; i < dims.size(); ++i) {
    int64_t product = 1;
    char open = 0;
    for (const char letter : dims[i]) {
      const auto at = known.find(letter);
      if (at == known.end() && open == 0) {
        open = letter;
      } else if (at == known.end()) {
        fail<RuntimeError>("\"{}\": neither {} nor {} has a known size", pattern, open, letter);
      } else {
        sizes[letter] = at->second;
        product *= at->second;
      }
    }
    const int64_t size = shape[static_cast<int64_t>(i)];
    if (product == 0 || size % product != 0 || (open == 0 && size != product)) {
      fail<RuntimeError>("shape {} does not fit \"{}\": dimension {} is {} instead of {}", to_string(shape), pattern, i,
                         size, product);
    }
    if (open != 0) sizes[open] = size / product;
  }
  return sizes;
}

}  // namespace

std::string inverse(std::string_view pattern) {
  const size_t arrow = pattern.find(kArrow);
  return std::string(pattern.substr(arrow + kArrow.size())) + std::string(kArrow) +
         std::string(pattern.substr(0, arrow));
}

HostArray rearrange(const HostArray& array, std::string_view pattern, const Sizes& known) {
  const size_t arrow = pattern.find(kArrow);
  const std::vector<std::string> from = dimensions(pattern.substr(0, arrow));
  const std::vector<std::string> to = dimensions(pattern.substr(arrow + kArrow.size()));
  const Sizes sizes = solve(array.shape(), from, pattern, known);
  std::map<char, int64_t> strides;  // in the input, by letter
  int64_t stride = 1;
  for (size_t i = from.size(); i-- > 0;) {
    for (size_t j = from[i].size(); j-- > 0;) {
      strides[from[i][j]] = stride;
      stride *= sizes.at(from[i][j]);
    }
  }
  Shape shape;
  std::vector<int64_t> extent, step;
  for (const std::string& dim : to) {
    int64_t size = 1;
    for (const char letter : dim) {
      size *= sizes.at(letter);
      extent.push_back(sizes.at(letter));
      step.push_back(strides.at(letter));
    }
    shape.push_back(size);
  }
  if (array.shape().num_elements() == 0 || extent.empty()) return array.reshaped(shape);

  HostArray out({array.dtype(), shape});
  const size_t width = byte_size(array.dtype());
  const std::byte* in = array.bytes().data();
  std::byte* write = out.mutable_bytes().data();
  const int64_t inner = extent.back();
  const size_t inner_step = static_cast<size_t>(step.back()) * width;
  std::vector<int64_t> index(extent.size() - 1, 0);
  int64_t offset = 0;
  while (true) {
    const std::byte* read = in + static_cast<size_t>(offset) * width;
    if (inner_step == width) {
      std::memcpy(write, read, static_cast<size_t>(inner) * width);
      write += static_cast<size_t>(inner) * width;
    } else {
      for (int64_t i = 0; i < inner; ++i, read += inner_step, write += width) std::memcpy(write, read, width);
    }
    size_t k = index.size();
    while (k-- > 0) {
      offset += step[k];
      if (++index[k] < extent[k]) break;
      offset -= step[k] * extent[k];
      index[k] = 0;
    }
    if (k == static_cast<size_t>(-1)) return out;
  }
}

}  // namespace pax::hf
