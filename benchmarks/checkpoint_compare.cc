// checkpoint_compare [--json] [--mib N] [--folder DIR] [--without-orbax]: saving and restoring N MiB of float32 in 48
// arrays, against the disk's raw rate and, in the same run, orbax-checkpoint (own virtual environment). Best of three.

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "pax/base/error.h"
#include "pax/base/files.h"
#include "pax/checkpoint/layout.h"
#include "pax/checkpoint/reader.h"
#include "pax/checkpoint/write.h"

namespace pax {
namespace {

constexpr int kArrays = 48;
constexpr int kRepeats = 3;
constexpr const char* kPackages = "orbax-checkpoint==0.12.8 jax==0.10.2 tensorstore==0.1.86 numpy==2.4.6";

struct Options {
  bool json = false;
  bool orbax = true;
  int64_t mebibytes = 1024;
  std::filesystem::path folder = std::filesystem::temp_directory_path();
};

double seconds(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// The best time of `work`, with `before` run untimed before each.
double best(const std::function<void()>& before, const std::function<void()>& work) {
  double least = 1e30;
  for (int i = 0; i < kRepeats; ++i) {
    before();
    ::sync();
    least = std::min(least, seconds(work));
  }
  return least;
}

/// Values that no compressor can shorten much.
Checkpoint make_checkpoint(int64_t mebibytes) {
  Checkpoint checkpoint{.step = 1};
  uint32_t random = 1;
  for (int i = 0; i < kArrays; ++i) {
    HostArray array(TensorType{DType::kF32, {(mebibytes << 18) / kArrays / 1024, 1024}});
    for (float& value : array.mutable_values<float>()) {
      random = random * 1664525u + 1013904223u;
      value = static_cast<float>(random) * 0x1p-32f;
    }
    checkpoint.state["w" + std::to_string(i)] = array;
  }
  return checkpoint;
}

void write_raw(const std::filesystem::path& path, const Checkpoint& checkpoint) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (fd < 0) fail<RuntimeError>("{}: cannot create", path.string());
  for (const auto& [name, array] : checkpoint.state) {
    for (auto left = array.bytes(); !left.empty();) {
      const ssize_t written = ::write(fd, left.data(), left.size());
      if (written < 0) fail<RuntimeError>("{}: cannot write", path.string());
      left = left.subspan(static_cast<size_t>(written));
    }
  }
  ::fsync(fd);
  ::close(fd);
}

nlohmann::json run_orbax(const Options& options, const std::filesystem::path& folder) {
  const std::string command = fmt::format(
      "JAX_PLATFORMS=cpu {0}/tools/with_packages {1}/pax-python {2} -- {0}/benchmarks/checkpoint_compare.py {3} {4}",
      PAX_SOURCE_DIR, std::filesystem::temp_directory_path().string(), kPackages, options.mebibytes, folder.string());
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(command.c_str(), "r"), ::pclose);
  std::string output;
  char buffer[4096];
  while (std::fgets(buffer, sizeof(buffer), pipe.get()) != nullptr) output = buffer;
  return nlohmann::json::parse(output);
}

void run(const Options& options) {
  std::filesystem::create_directories(options.folder);
  std::string pattern = (options.folder / "checkpoint_compare-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) fail<RuntimeError>("{}: cannot make a folder", options.folder.string());
  const std::filesystem::path folder = pattern;
  const std::filesystem::path raw = folder / "raw";
  const std::filesystem::path saved = folder / checkpoint_name(1);
  const Checkpoint checkpoint = make_checkpoint(options.mebibytes);
  Disk disk;
  nlohmann::json row{{"benchmark", "checkpoint_compare"}, {"mib", options.mebibytes}};
  row["raw_write_s"] = best([&] { std::filesystem::remove(raw); }, [&] { write_raw(raw, checkpoint); });
  std::filesystem::remove(raw);
  row["save_s"] =
      best([&] { std::filesystem::remove_all(saved); }, [&] { write_checkpoint(disk, folder, checkpoint); });
  row["restore_s"] = best([] {}, [&] { CheckpointReader(saved).read_all(); });
  std::filesystem::remove_all(saved);
  row["save_over_raw"] = row["raw_write_s"].get<double>() / row["save_s"].get<double>();
  if (options.orbax) {
    const nlohmann::json orbax = run_orbax(options, folder);
    row["orbax_save_s"] = orbax["save_s"];
    row["orbax_restore_s"] = orbax["restore_s"];
    row["save_speedup"] = orbax["save_s"].get<double>() / row["save_s"].get<double>();
    row["restore_speedup"] = orbax["restore_s"].get<double>() / row["restore_s"].get<double>();
  }
  std::filesystem::remove_all(folder);
  if (options.json) {
    std::printf("%s\n", row.dump().c_str());
  } else {
    for (const auto& [name, value] : row.items()) std::printf("%-16s %s\n", name.c_str(), value.dump().c_str());
  }
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    if (flag == "--json") {
      options.json = true;
    } else if (flag == "--without-orbax") {
      options.orbax = false;
    } else if (flag == "--mib" && i + 1 < argc) {
      options.mebibytes = std::atoll(argv[++i]);
    } else if (flag == "--folder" && i + 1 < argc) {
      options.folder = argv[++i];
    } else {
      fail<ConfigError>("{}: not a flag; there are --json, --without-orbax, --mib N, --folder DIR", flag);
    }
  }
  return options;
}

}  // namespace
}  // namespace pax

int main(int argc, char** argv) try {
  pax::run(pax::parse(argc, argv));
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
