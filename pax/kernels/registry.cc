#include "pax/kernels/registry.h"

#include "pax/kernels/handlers.h"
#include "pax/kernels/product.h"

namespace pax {
namespace {

struct Kernel {
  const char* name;
  XLA_FFI_Error* (*handler)(XLA_FFI_CallFrame*);
};

constexpr Kernel kKernels[] = {
    {"pax_attention", kernel_handler<attention_kernel>},
    {"pax_attention_grad", kernel_handler<attention_grad_kernel>},
    {"pax_product", kernel_handler<product_kernel>},
};

}  // namespace

bool register_kernels(const Plugin& plugin) {
  try {
    for (const Kernel& kernel : kKernels) {
      plugin.register_ffi_handler(kernel.name, reinterpret_cast<void*>(kernel.handler));
    }
  } catch (const PluginError& error) {
    if (error.code() != PluginError::Code::kUnimplemented) throw;
    return false;
  }
  return true;
}

Target with_kernels(Target target) {
  target.kernels = true;
  target.tile_products = has_tile_products();
  return target;
}

}  // namespace pax
