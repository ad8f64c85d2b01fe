#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>

namespace pax {

/// Memory for one piece of work, aligned to cache lines, not initialised.
template <class T>
class Scratch {
 public:
  explicit Scratch(int64_t count)
      : data_(static_cast<T*>(std::aligned_alloc(64, (static_cast<size_t>(count) * sizeof(T) + 127) / 64 * 64))) {
    if (data_ == nullptr) throw std::bad_alloc();
  }
  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  T& operator[](int64_t i) { return data_.get()[i]; }

 private:
  struct Free {
    void operator()(T* data) const { std::free(data); }
  };
  std::unique_ptr<T, Free> data_;
};

}  // namespace pax
