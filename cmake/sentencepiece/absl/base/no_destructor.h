#pragma once
// abseil's NoDestructor, for the system's abseil, which has none: an object that lives until the process ends.

#include <new>
#include <utility>

namespace absl {

template <class T>
class NoDestructor {
 public:
  template <class... Args>
  explicit NoDestructor(Args&&... args) {
    new (&storage_) T(std::forward<Args>(args)...);
  }
  const T& operator*() const { return *get(); }
  T& operator*() { return *get(); }
  const T* operator->() const { return get(); }
  T* operator->() { return get(); }
  const T* get() const { return std::launder(reinterpret_cast<const T*>(&storage_)); }
  T* get() { return std::launder(reinterpret_cast<T*>(&storage_)); }

 private:
  alignas(T) unsigned char storage_[sizeof(T)];
};

}  // namespace absl
