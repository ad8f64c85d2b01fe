#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "pax/array/shape.h"

namespace pax {

/// A dense row-major array in host memory. Copies share the bytes; whoever writes owns the only copy.
class HostArray {
 public:
  HostArray() = default;

  /// Zeros.
  explicit HostArray(TensorType type);

  /// Borrows or keeps bytes that others made (a mapped file, a device buffer): `owner` lives as long as the array.
  HostArray(TensorType type, std::shared_ptr<const std::byte> owner);

  template <class T>
  static HostArray of(std::span<const T> values, Shape shape);
  template <class T>
  static HostArray of(std::initializer_list<T> values, Shape shape) {
    return of(std::span<const T>(values.begin(), values.size()), std::move(shape));
  }
  template <class T>
  static HostArray scalar(T value) {
    return of(std::span<const T>(&value, 1), Shape{});
  }

  const TensorType& type() const { return type_; }
  DType dtype() const { return type_.dtype; }
  const Shape& shape() const { return type_.shape; }
  size_t size_bytes() const { return static_cast<size_t>(shape().num_elements()) * byte_size(dtype()); }

  std::span<const std::byte> bytes() const { return {bytes_.get(), size_bytes()}; }
  /// Valid only while this array shares its bytes with no other.
  std::span<std::byte> mutable_bytes() { return {const_cast<std::byte*>(bytes_.get()), size_bytes()}; }

  /// The elements as `T`. Throws RuntimeError when `T` is not the element type.
  template <class T>
  std::span<const T> values() const {
    require_dtype(dtype_of<T>);
    return {reinterpret_cast<const T*>(bytes_.get()), static_cast<size_t>(shape().num_elements())};
  }
  template <class T>
  std::span<T> mutable_values() {
    require_dtype(dtype_of<T>);
    return {reinterpret_cast<T*>(const_cast<std::byte*>(bytes_.get())), static_cast<size_t>(shape().num_elements())};
  }

  /// Every element as double, whatever the element type.
  std::vector<double> to_doubles() const;
  /// The one element of a scalar or one-element array.
  double item() const;
  /// The same values in another element type; floats round to nearest even.
  HostArray converted(DType dtype) const;
  /// The same bytes under another shape of equally many elements.
  HostArray reshaped(Shape shape) const;

 private:
  void require_dtype(DType wanted) const;

  TensorType type_;
  std::shared_ptr<const std::byte> bytes_;
};

/// An array of `dtype` holding `values` rounded to it.
HostArray from_doubles(std::span<const double> values, TensorType type);

template <class T>
HostArray HostArray::of(std::span<const T> values, Shape shape) {
  HostArray array(TensorType{dtype_of<T>, std::move(shape)});
  std::copy(values.begin(), values.end(), array.mutable_values<T>().begin());
  return array;
}

}  // namespace pax
