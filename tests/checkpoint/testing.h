#pragma once

#include <sys/resource.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "pax/base/error.h"
#include "pax/base/files.h"
#include "pax/checkpoint/write.h"

namespace pax::testing {

/// A disk that does not wait for the hardware: what a process leaves behind when it dies is the same.
class QuickDisk : public Disk {
 public:
  void flush(const OpenFile& /*file*/) override {}
  void flush_folder(const std::filesystem::path& /*path*/) override {}
};

/// The message of the error that `call` throws, or "" when it throws none.
template <class F>
std::string error_of(F call) {
  try {
    call();
  } catch (const RuntimeError& error) {
    return error.what();
  }
  return "";
}

/// A small state whose every value depends on `step`.
inline Checkpoint sample(int64_t step) {
  const auto value = static_cast<float>(step);
  Checkpoint checkpoint{.step = step};
  checkpoint.state["step"] = HostArray::scalar(static_cast<int32_t>(step));
  checkpoint.state["mdl_vars/params/lm/w"] =
      HostArray::of<float>({value, value + 1, value + 2, value + 3, value + 4, value + 5}, {2, 3});
  checkpoint.state["mdl_vars/params/lm/scale"] = HostArray::of<BFloat16>({BFloat16(1), BFloat16(value)}, {2});
  checkpoint.state["opt_states_0/0/m"] = HostArray::of<double>({value / 3}, {1});
  checkpoint.items["train_input/process_0-of-1"] = "batches: " + std::to_string(step);
  return checkpoint;
}

inline Tree<TensorType> types_of(const HostTree& tree) {
  Tree<TensorType> types;
  for (const auto& [name, array] : tree) types.emplace(name, array.type());
  return types;
}

/// Overwrites a file in place, with no care for safety.
inline void overwrite(const std::filesystem::path& path, std::string_view contents) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << contents;
}

/// Limits the size of files that this process may write, while it lives.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() { setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_{};
};

}  // namespace pax::testing
