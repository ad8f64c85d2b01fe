#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "pax/array/dtype.h"

namespace pax {

/// Sizes of an array's dimensions, outermost first; no dimension is a scalar.
class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<int64_t> dims) : dims_(dims) {}
  explicit Shape(std::vector<int64_t> dims) : dims_(std::move(dims)) {}
  explicit Shape(std::span<const int64_t> dims) : dims_(dims.begin(), dims.end()) {}

  int64_t rank() const { return static_cast<int64_t>(dims_.size()); }
  int64_t num_elements() const;

  /// The size of dimension `i`; negative counts from the end.
  int64_t operator[](int64_t i) const { return dims_[static_cast<size_t>(i < 0 ? i + rank() : i)]; }
  int64_t& operator[](int64_t i) { return dims_[static_cast<size_t>(i < 0 ? i + rank() : i)]; }

  std::span<const int64_t> dims() const { return dims_; }
  auto begin() const { return dims_.begin(); }
  auto end() const { return dims_.end(); }
  void push_back(int64_t dim) { dims_.push_back(dim); }

  /// This shape with `dims` put before it.
  Shape prefixed(std::span<const int64_t> dims) const;
  Shape without(int64_t dim) const;

  bool operator==(const Shape&) const = default;

 private:
  std::vector<int64_t> dims_;
};

/// Element type and shape: all that is known of a value in a program.
struct TensorType {
  DType dtype = DType::kF32;
  Shape shape;
  bool operator==(const TensorType&) const = default;
};

/// "[8,128]"
std::string to_string(const Shape& shape);

/// "f32[8,128]": the spelling in messages.
std::string to_string(const TensorType& type);

}  // namespace pax
