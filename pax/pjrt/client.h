#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pax/pjrt/buffer.h"
#include "pax/pjrt/compile_options.h"
#include "pax/pjrt/executable.h"

struct PJRT_Client;
struct PJRT_Device;

namespace pax {

/// One device: what its plugin tells of it.
struct Device {
  int64_t id = 0;  ///< Unique among all processes' devices.
  int64_t process_index = 0;
  std::string kind;  ///< "cpu", "TPU v4", "NVIDIA H100 80GB HBM3".
  NamedValues attributes;
  PJRT_Device* handle = nullptr;
};

struct DeviceMemory {
  int64_t in_use = 0;
  std::optional<int64_t> peak;
  std::optional<int64_t> limit;
};

/// Where processes that share a client's devices leave values for one another while they start. Thread-safe.
class KeyValueStore {
 public:
  virtual ~KeyValueStore() = default;
  virtual void put(std::string_view key, std::string_view value) = 0;
  /// Waits for the key; nothing after `timeout`.
  virtual std::optional<std::string> get(std::string_view key, std::chrono::milliseconds timeout) = 0;
};

/// How long the bytes of a HostArray are needed. Either way the array itself is kept as long as necessary.
enum class HostTransfer : uint8_t {
  kCopy,      ///< The device gets its own copy, made while the caller goes on.
  kZeroCopy,  ///< Where device memory is host memory, the buffer is the array's bytes. It is never donated in place.
};

/// The devices of a platform and what runs on them. Thread-safe.
class Client : public std::enable_shared_from_this<Client> {
 public:
  /// `options` are the plugin's own, such as `cpu_device_count` (int64). `store` is needed with several processes.
  static std::shared_ptr<const Client> create(std::shared_ptr<const Plugin> plugin, const NamedValues& options = {},
                                              std::shared_ptr<KeyValueStore> store = nullptr);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  const std::shared_ptr<const Plugin>& plugin() const { return plugin_; }
  std::string platform_name() const;
  std::string platform_version() const;
  int process_index() const;
  /// Of all processes, by id.
  const std::vector<Device>& devices() const { return devices_; }
  /// Of this process: the ones that buffers and programs name by index.
  const std::vector<Device>& local_devices() const { return local_devices_; }
  /// Throws RuntimeError naming the index and how many devices there are.
  const Device& local_device(int64_t index) const;
  /// The index of a local device.
  int64_t local_index(const PJRT_Device* handle) const;
  /// Nothing when the plugin does not tell.
  std::optional<DeviceMemory> memory(int64_t device_index) const;

  /// Starts a copy of `array` to a local device.
  Buffer to_device(const HostArray& array, int64_t device_index = 0, HostTransfer transfer = HostTransfer::kCopy) const;

  /// Compiles StableHLO text. Throws PluginError with the compiler's words.
  LoadedExecutable compile(std::string_view stablehlo, const CompileOptions& options = {}) const;
  /// Loads what `Executable::serialize` gave, compiled by the same plugin version with the same options.
  LoadedExecutable load(std::string_view serialized) const;

  PJRT_Client* get() const { return client_; }

 private:
  Client(std::shared_ptr<const Plugin> plugin, std::shared_ptr<KeyValueStore> store);

  std::shared_ptr<const Plugin> plugin_;
  std::shared_ptr<KeyValueStore> store_;
  PJRT_Client* client_ = nullptr;
  std::vector<Device> devices_;
  std::vector<Device> local_devices_;
};

}  // namespace pax
