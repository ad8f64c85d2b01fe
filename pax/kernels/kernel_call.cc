#include "pax/kernels/kernel_call.h"

#include <xla/ffi/api/c_api.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <numeric>
#include <string>

#include "pax/base/error.h"

namespace pax {
namespace {

DType dtype_of(XLA_FFI_DataType type) {
  switch (type) {
    case XLA_FFI_DataType_F32:
      return DType::kF32;
    case XLA_FFI_DataType_BF16:
      return DType::kBF16;
    case XLA_FFI_DataType_S32:
      return DType::kS32;
    case XLA_FFI_DataType_PRED:
      return DType::kPred;
    default:
      fail<RuntimeError>("a kernel was given an array of XLA's type {}; kernels take f32, bf16, i32 and bool",
                         static_cast<int>(type));
  }
}

KernelCall::Array to_array(void* of) {
  const auto* buffer = static_cast<const XLA_FFI_Buffer*>(of);
  return {buffer->data, dtype_of(buffer->dtype), {buffer->dims, static_cast<size_t>(buffer->rank)}};
}

/// The attribute's value, of XLA's kind `type`.
void* find_attr(const XLA_FFI_Attrs& attrs, std::string_view name, XLA_FFI_AttrType type) {
  for (int64_t i = 0; i < attrs.size; ++i) {
    if (std::string_view(attrs.names[i]->ptr, attrs.names[i]->len) == name && attrs.types[i] == type) {
      return attrs.attrs[i];
    }
  }
  fail<RuntimeError>("a kernel's attribute {} is missing or of another type", name);
}

/// Work shared by several threads. The last one to leave frees it: a helper may start when all is done.
struct Job {
  const std::function<void(int64_t)>* body;
  int64_t tasks;
  std::atomic<int64_t> next = 0;
  std::atomic<int64_t> done = 0;
  std::mutex mutex;
  std::exception_ptr error;

  void work() {
    for (int64_t i = next.fetch_add(1); i < tasks; i = next.fetch_add(1)) {
      try {
        (*body)(i);
      } catch (...) {
        const std::lock_guard lock(mutex);
        error = std::current_exception();
      }
      if (done.fetch_add(1) + 1 == tasks) done.notify_all();
    }
  }
};

void help(void* data) {
  const std::unique_ptr<std::shared_ptr<Job>> job(static_cast<std::shared_ptr<Job>*>(data));
  (*job)->work();
}

void drop(const XLA_FFI_Api& api, XLA_FFI_Error* error) {
  XLA_FFI_Error_Destroy_Args args{.struct_size = XLA_FFI_Error_Destroy_Args_STRUCT_SIZE, .error = error};
  api.XLA_FFI_Error_Destroy(&args);
}

/// Threads of the program's pool; 1 where it has none.
int64_t num_threads(const XLA_FFI_CallFrame& frame) {
  int64_t threads = 1;
  XLA_FFI_ThreadPool_NumThreads_Args args{
      .struct_size = XLA_FFI_ThreadPool_NumThreads_Args_STRUCT_SIZE, .ctx = frame.ctx, .num_threads = &threads};
  if (XLA_FFI_Error* error = frame.api->XLA_FFI_ThreadPool_NumThreads(&args)) {
    drop(*frame.api, error);
    return 1;
  }
  return threads;
}

void run_on_pool(const XLA_FFI_CallFrame& frame, int64_t tasks, const std::function<void(int64_t)>& body) {
  const int64_t helpers = std::min(tasks, num_threads(frame)) - 1;
  if (helpers < 1) return run_in_order(tasks, body);
  auto job = std::make_shared<Job>();
  job->body = &body;
  job->tasks = tasks;
  for (int64_t i = 0; i < helpers; ++i) {
    auto share = std::make_unique<std::shared_ptr<Job>>(job);
    XLA_FFI_ThreadPool_Schedule_Args args{.struct_size = XLA_FFI_ThreadPool_Schedule_Args_STRUCT_SIZE,
                                          .ctx = frame.ctx,
                                          .task = help,
                                          .data = share.get()};
    if (XLA_FFI_Error* error = frame.api->XLA_FFI_ThreadPool_Schedule(&args)) {
      drop(*frame.api, error);
      break;
    }
    share.release();  // NOLINT: help() owns it
  }
  // The caller works as well, so that nobody waits for a task that no thread has begun.
  job->work();
  for (int64_t done = job->done.load(); done < tasks; done = job->done.load()) job->done.wait(done);
  if (job->error) std::rethrow_exception(job->error);
}

}  // namespace

int64_t KernelCall::Array::num_elements() const {
  return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
}

size_t KernelCall::num_operands() const { return static_cast<size_t>(frame_->args.size); }
size_t KernelCall::num_results() const { return static_cast<size_t>(frame_->rets.size); }

KernelCall::Array KernelCall::operand(size_t i) const {
  if (i >= num_operands()) fail<RuntimeError>("a kernel needs operand {} but was given {}", i, num_operands());
  return to_array(frame_->args.args[i]);
}

KernelCall::Array KernelCall::result(size_t i) const {
  if (i >= num_results()) fail<RuntimeError>("a kernel has result {} but was given {}", i, num_results());
  return to_array(frame_->rets.rets[i]);
}

int64_t KernelCall::integer(std::string_view name) const {
  const auto* scalar = static_cast<const XLA_FFI_Scalar*>(find_attr(frame_->attrs, name, XLA_FFI_AttrType_SCALAR));
  if (scalar->dtype != XLA_FFI_DataType_S64) fail<RuntimeError>("a kernel's attribute {} is not an i64", name);
  return *static_cast<const int64_t*>(scalar->value);
}

double KernelCall::number(std::string_view name) const {
  const auto* scalar = static_cast<const XLA_FFI_Scalar*>(find_attr(frame_->attrs, name, XLA_FFI_AttrType_SCALAR));
  if (scalar->dtype != XLA_FFI_DataType_F64) fail<RuntimeError>("a kernel's attribute {} is not an f64", name);
  return *static_cast<const double*>(scalar->value);
}

std::span<const int64_t> KernelCall::integers(std::string_view name) const {
  const auto* array = static_cast<const XLA_FFI_Array*>(find_attr(frame_->attrs, name, XLA_FFI_AttrType_ARRAY));
  if (array->dtype != XLA_FFI_DataType_S64) fail<RuntimeError>("a kernel's attribute {} is no array of i64", name);
  return {static_cast<const int64_t*>(array->data), array->size};
}

ParallelFor KernelCall::parallel() const {
  return
      [frame = frame_](int64_t tasks, const std::function<void(int64_t)>& body) { run_on_pool(*frame, tasks, body); };
}

XLA_FFI_Error* run_kernel(XLA_FFI_CallFrame* frame, void (*kernel)(const KernelCall&)) {
  for (XLA_FFI_Extension_Base* at = frame->extension_start; at != nullptr; at = at->next) {
    if (at->type != XLA_FFI_Extension_Metadata) continue;
    XLA_FFI_Metadata* metadata = reinterpret_cast<XLA_FFI_Metadata_Extension*>(at)->metadata;
    metadata->api_version.major_version = XLA_FFI_API_MAJOR;
    metadata->api_version.minor_version = XLA_FFI_API_MINOR;
    metadata->traits = 0;
    return nullptr;
  }
  std::string message;
  try {
    kernel(KernelCall(frame));
    return nullptr;
  } catch (const std::exception& error) {
    message = error.what();
  }
  XLA_FFI_Error_Create_Args args{.struct_size = XLA_FFI_Error_Create_Args_STRUCT_SIZE,
                                 .message = message.c_str(),
                                 .errc = XLA_FFI_Error_Code_INTERNAL};
  return frame->api->XLA_FFI_Error_Create(&args);
}

}  // namespace pax
