#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "pax/array/dtype.h"
#include "pax/kernels/parallel.h"

struct XLA_FFI_CallFrame;
struct XLA_FFI_Error;

namespace pax {

/// One call of a kernel by a compiled program, as XLA's FFI hands it over. Valid while the call lasts.
class KernelCall {
 public:
  explicit KernelCall(XLA_FFI_CallFrame* frame) : frame_(frame) {}

  struct Array {
    void* data = nullptr;
    DType dtype{};
    std::span<const int64_t> dims;

    template <class T>
    T* as() const {
      return static_cast<T*>(data);
    }
    int64_t num_elements() const;
  };
  size_t num_operands() const;
  size_t num_results() const;
  Array operand(size_t i) const;
  Array result(size_t i) const;

  /// Attributes of the call, of MLIR types i64 and f64, and arrays of i64. Throw RuntimeError when missing.
  int64_t integer(std::string_view name) const;
  double number(std::string_view name) const;
  std::span<const int64_t> integers(std::string_view name) const;

  /// Runs pieces of work on the threads of the program's own pool, and on the caller's.
  ParallelFor parallel() const;

 private:
  XLA_FFI_CallFrame* frame_;
};

/// What XLA calls: answers its questions about the interface, or runs `kernel`; what it throws becomes the program's
/// error.
XLA_FFI_Error* run_kernel(XLA_FFI_CallFrame* frame, void (*kernel)(const KernelCall&));

/// The handler of one kernel.
template <void (*kernel)(const KernelCall&)>
XLA_FFI_Error* kernel_handler(XLA_FFI_CallFrame* frame) {
  return run_kernel(frame, kernel);
}

}  // namespace pax
