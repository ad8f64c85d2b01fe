#pragma once

#include <memory>

#include "pax/array/host_array.h"
#include "pax/pjrt/event.h"

struct PJRT_Buffer;

namespace pax {

class Client;

/// A copy from device to host under way. The last handle waits for it.
class HostCopy {
 public:
  bool ready() const;
  /// The array, once it is there. Throws PluginError if the value could not be computed or copied.
  HostArray wait() const;

 private:
  friend class Buffer;
  struct State;
  std::shared_ptr<const State> state_;
};

/// An array in a device's memory. Copies are handles of the same memory, which is freed with the last one.
class Buffer {
 public:
  Buffer() = default;
  /// Takes ownership of `buffer`.
  Buffer(std::shared_ptr<const Client> client, PJRT_Buffer* buffer);

  bool valid() const { return state_ != nullptr; }
  TensorType type() const;
  size_t size_bytes() const;
  /// Index of the device it lies on among the client's local devices.
  int64_t device_index() const;

  /// Starts a copy to the host, in row-major order. The buffer may be dropped or donated meanwhile.
  HostCopy copy_to_host() const;
  /// The array, waiting for it.
  HostArray to_host() const { return copy_to_host().wait(); }
  /// On CPU: the device's own bytes without a copy; until the array is dropped the buffer cannot be donated.
  /// Elsewhere `to_host()`. Waits.
  HostArray view_on_host() const;
  /// Copies to another local device.
  Buffer copy_to_device(int64_t device_index) const;

  /// Ready once the value is computed, or with the error of its computation.
  Event ready_event() const;
  void wait() const { ready_event().wait(); }

  /// Frees the memory now, for all handles; as donation does.
  void delete_now();
  /// True after donation to an execution, or delete_now.
  bool deleted() const;

  PJRT_Buffer* get() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace pax
