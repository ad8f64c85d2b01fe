#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "pax/base/text.h"
#include "pax/checkpoint/catalog.h"
#include "pax/checkpoint/digest.h"
#include "pax/checkpoint/reader.h"

namespace pax::cli {

int checkpoint_list_command(const std::filesystem::path& directory, bool json) {
  const std::filesystem::path inside = directory / "checkpoints";
  nlohmann::json rows = nlohmann::json::array();
  for (const CheckpointEntry& entry : list_checkpoints(std::filesystem::is_directory(inside) ? inside : directory)) {
    rows.push_back({{"step", entry.step},
                    {"path", entry.path.string()},
                    {"bytes", entry.bytes},
                    {"committed", entry.problem.empty()},
                    {"problem", entry.problem}});
    if (!json) {
      fmt::print("{:>10} {:>12}  {}{}{}\n", entry.step, human_bytes(entry.bytes), entry.path.string(),
                 entry.problem.empty() ? "" : "  NOT USABLE: ", entry.problem);
    }
  }
  if (json) fmt::print("{}\n", rows.dump());
  return kDone;
}

int checkpoint_show_command(const std::filesystem::path& directory, std::optional<int64_t> step, bool json) {
  const CheckpointReader checkpoint(find_checkpoint(directory, step));
  nlohmann::json arrays = nlohmann::json::array();
  for (const auto& [name, type] : checkpoint.types()) {
    arrays.push_back({{"name", name},
                      {"dtype", dtype_name(type.dtype)},
                      {"shape", std::vector<int64_t>(type.shape.begin(), type.shape.end())}});
    if (!json) fmt::print("{:100} {}\n", name, to_string(type));
  }
  if (json) {
    const nlohmann::json out{{"path", checkpoint.path().string()}, {"step", checkpoint.step()}, {"arrays", arrays}};
    fmt::print("{}\n", out.dump());
  } else {
    fmt::print("step {} in {}\n", checkpoint.step(), checkpoint.path().string());
  }
  return kDone;
}

int checkpoint_hash_command(const std::filesystem::path& directory, std::optional<int64_t> step, bool json) {
  const CheckpointReader checkpoint(find_checkpoint(directory, step));
  const std::string digest = state_digest(checkpoint);
  if (json) {
    fmt::print("{}\n", nlohmann::json{{"step", checkpoint.step()}, {"hash", digest}}.dump());
  } else {
    fmt::print("{}\n", digest);
  }
  return kDone;
}

}  // namespace pax::cli
