#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/invocation.h"
#include "pax/array/safetensors.h"
#include "pax/base/error.h"
#include "pax/base/text.h"
#include "pax/checkpoint/catalog.h"
#include "pax/checkpoint/compare.h"
#include "pax/checkpoint/digest.h"
#include "pax/checkpoint/reader.h"
#include "pax/checkpoint/write.h"

namespace pax::cli {
namespace {

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

struct ShowCheckpointOptions {
  std::optional<int64_t> step;
  bool norms = false;  ///< reads every array
};

int checkpoint_show_command(const std::filesystem::path& directory, const ShowCheckpointOptions& options, bool json) {
  const CheckpointReader checkpoint(find_checkpoint(directory, options.step));
  nlohmann::json arrays = nlohmann::json::array();
  for (const auto& [name, type] : checkpoint.types()) {
    arrays.push_back({{"name", name},
                      {"dtype", dtype_name(type.dtype)},
                      {"shape", std::vector<int64_t>(type.shape.begin(), type.shape.end())}});
    std::string length;
    if (options.norms) {
      const double value = norm(checkpoint.read(name));
      arrays.back()["norm"] = value;
      length = fmt::format("  norm {:.6g}", value);
    }
    if (!json) fmt::print("{:100} {}{}\n", name, to_string(type), length);
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

int checkpoint_diff_command(const std::filesystem::path& left, const std::filesystem::path& right, bool json) {
  const std::vector<ArrayDifference> differences =
      compare(CheckpointReader(find_checkpoint(left)), CheckpointReader(find_checkpoint(right)));
  nlohmann::json rows = nlohmann::json::array();
  const auto text = [](const std::optional<TensorType>& type) { return type ? to_string(*type) : "absent"; };
  for (const ArrayDifference& difference : differences) {
    const bool same_type = difference.left == difference.right;
    rows.push_back({{"name", difference.name}, {"left", text(difference.left)}, {"right", text(difference.right)}});
    if (same_type) {
      rows.back()["max_difference"] = difference.max_difference;
      rows.back()["different_elements"] = difference.different_elements;
    }
    if (json) continue;
    if (same_type) {
      fmt::print("{}: {} elements differ, by at most {:.6g}\n", difference.name,
                 with_commas(difference.different_elements), difference.max_difference);
    } else {
      fmt::print("{}: {} | {}\n", difference.name, text(difference.left), text(difference.right));
    }
  }
  if (json) fmt::print("{}\n", rows.dump());
  if (!json && differences.empty()) fmt::print("equal\n");
  return differences.empty() ? kDone : kFailed;
}

struct ConvertCheckpointOptions {
  std::filesystem::path directory, out;
  std::optional<int64_t> step;
  std::string dtype;  ///< of floating arrays; empty: as they are
};

/// Writes the checkpoint in our layout into `out`, or when that ends with .safetensors as one such file.
int checkpoint_convert_command(const ConvertCheckpointOptions& options) {
  const CheckpointReader source(find_checkpoint(options.directory, options.step));
  Checkpoint checkpoint{.step = source.step(), .state = source.read_all(), .items = source.items(), .pieces = {}};
  if (!options.dtype.empty()) {
    const std::optional<DType> dtype = parse_dtype(options.dtype);
    if (!dtype || !is_floating(*dtype)) fail<ConfigError>("--dtype {}: is no floating element type", options.dtype);
    for (auto& [name, array] : checkpoint.state) {
      if (is_floating(array.dtype()) && array.dtype() != *dtype) array = array.converted(*dtype);
    }
  }
  if (options.out.extension() == ".safetensors") {
    write_safetensors(options.out, checkpoint.state, {{"step", std::to_string(checkpoint.step)}});
  } else {
    std::filesystem::create_directories(options.out);
    Disk disk;
    write_checkpoint(disk, options.out, checkpoint);
  }
  fmt::print("{} arrays of step {} in {}\n", checkpoint.state.size(), checkpoint.step, options.out.string());
  return kDone;
}

int checkpoint_average_command(const std::vector<std::string>& sources, const std::filesystem::path& out) {
  std::vector<std::filesystem::path> paths;
  for (const std::string& source : sources) paths.push_back(find_checkpoint(source));
  const Checkpoint mean = average(paths);
  std::filesystem::create_directories(out);
  Disk disk;
  write_checkpoint(disk, out, mean);
  fmt::print("the mean of {} checkpoints, as step {}, in {}\n", paths.size(), mean.step, out.string());
  return kDone;
}

/// Flags of all verbs; each has its own copy of what it needs.
struct Flags {
  std::string directory, other;
  ShowCheckpointOptions show;
  ConvertCheckpointOptions convert;
  std::vector<std::string> sources;
};

void add_verbs_that_look(CLI::App& checkpoint, const std::shared_ptr<Flags>& flags, Invocation& invocation) {
  const auto add = [&](const char* name, const char* doc, auto run) {
    CLI::App* sub = checkpoint.add_subcommand(name, doc);
    sub->add_option("directory", flags->directory, "A run's directory, or a checkpoint")->required();
    sub->add_flag("--json", invocation.common.json, "As JSON");
    sub->callback([flags, &invocation, run] {
      invocation.command = [flags, &invocation, run] { return run(*flags, invocation.common.json); };
    });
    return sub;
  };
  const auto with_step = [&](CLI::App* sub) {
    sub->add_option("--step", flags->show.step, "Of this step instead of the newest");
    return sub;
  };
  add("list", "Steps, sizes and states",
      [](const Flags& f, bool json) { return checkpoint_list_command(f.directory, json); });
  with_step(add("show", "Name, type and shape of every array", [](const Flags& f, bool json) {
    return checkpoint_show_command(f.directory, f.show, json);
  }))->add_flag("--norms", flags->show.norms, "The Euclidean norm of every array, too");
  with_step(add("hash", "One digest of step, weights and optimizer state",
                [](const Flags& f, bool json) { return checkpoint_hash_command(f.directory, f.show.step, json); }));
  add("diff", "Arrays of two checkpoints that are not equal; exit code 1 when there are any",
      [](const Flags& f, bool json) { return checkpoint_diff_command(f.directory, f.other, json); })
      ->add_option("other", flags->other, "What to compare with")
      ->required();
}

}  // namespace

void add_checkpoint_commands(CLI::App& app, Invocation& invocation) {
  CLI::App* checkpoint = app.add_subcommand("checkpoint", "Look at checkpoints")->require_subcommand(1);
  const auto flags = std::make_shared<Flags>();
  add_verbs_that_look(*checkpoint, flags, invocation);
  CLI::App* convert = checkpoint->add_subcommand("convert", "Any checkpoint that can be read, in our layout");
  convert->add_option("directory", flags->convert.directory, "A run's directory, or a checkpoint")->required();
  convert->add_option("--out", flags->convert.out, "A checkpoints folder, or a .safetensors file")->required();
  convert->add_option("--step", flags->convert.step, "Of this step instead of the newest");
  convert->add_option("--dtype", flags->convert.dtype, "Element type of floating arrays, such as bf16");
  convert->callback(
      [flags, &invocation] { invocation.command = [flags] { return checkpoint_convert_command(flags->convert); }; });
  CLI::App* average = checkpoint->add_subcommand("average", "The mean of several checkpoints");
  average->add_option("checkpoints", flags->sources, "Two or more")->required()->expected(2, 1000);
  average->add_option("--out", flags->convert.out, "A checkpoints folder")->required();
  average->callback([flags, &invocation] {
    invocation.command = [flags] { return checkpoint_average_command(flags->sources, flags->convert.out); };
  });
}

}  // namespace pax::cli
