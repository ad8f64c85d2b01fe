#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pax/pjrt/buffer.h"

struct PJRT_Executable;
struct PJRT_LoadedExecutable;

namespace pax {

/// Bytes that a program needs on each device.
struct MemoryStats {
  int64_t code = 0;
  int64_t arguments = 0;
  int64_t outputs = 0;
  int64_t aliased = 0;  ///< Of the outputs, what lies in donated arguments.
  int64_t temporaries = 0;
  int64_t peak = 0;  ///< 0 where the plugin does not tell.
};

/// A program as the compiler left it: `hlo_with_config` (HloModuleProtoWithConfig), `hlo` or `mlir`.
struct OptimizedProgram {
  std::string format;
  std::string bytes;
};

/// A compiled program: what can be known of it without running it.
class Executable {
 public:
  /// Takes ownership of `executable`, and keeps what it is part of: plugins may point from one into the other.
  Executable(std::shared_ptr<const Plugin> plugin, PJRT_Executable* executable,
             std::shared_ptr<const void> part_of = nullptr);

  std::string name() const;
  size_t num_outputs() const;
  /// Of one device's part of each output.
  std::vector<TensorType> output_types() const;
  MemoryStats memory_stats() const;
  /// `flops`, `bytes accessed`, …; nothing when the plugin has no cost analysis.
  std::optional<std::map<std::string, double>> cost_analysis() const;
  OptimizedProgram optimized_program() const;
  /// Bytes from which the same plugin version loads it again.
  std::string serialize() const;

 private:
  std::shared_ptr<const Plugin> plugin_;
  std::shared_ptr<PJRT_Executable> executable_;
};

/// The arguments or results of one device.
using BufferList = std::vector<Buffer>;

struct ExecuteOptions {
  /// Arguments to leave alone though the program donates them. They are copied first, so this costs memory.
  std::vector<int64_t> keep;
  /// The same on all processes that run one step together.
  int launch_id = 0;
};

/// A compiled program on the devices of a client.
class LoadedExecutable {
 public:
  /// Takes ownership of `executable`.
  LoadedExecutable(std::shared_ptr<const Client> client, PJRT_LoadedExecutable* executable);

  const Executable& executable() const { return executable_; }
  /// Local devices that it runs on, in the order of `execute`'s lists, as indices among the client's local devices.
  const std::vector<int64_t>& device_indices() const { return device_indices_; }

  /// Starts the program and gives its results, one list a device; they are handles of values still being computed.
  /// `arguments`: one list a device. Donated arguments are deleted. Throws RuntimeError when an argument was deleted.
  std::vector<BufferList> execute(std::span<const BufferList> arguments, const ExecuteOptions& options = {}) const;
  /// The same for a program on one device.
  BufferList execute(const BufferList& arguments, const ExecuteOptions& options = {}) const;

 private:
  std::shared_ptr<const Client> client_;
  std::shared_ptr<PJRT_LoadedExecutable> loaded_;
  Executable executable_;
  size_t num_outputs_;
  std::vector<int64_t> device_indices_;
};

}  // namespace pax
