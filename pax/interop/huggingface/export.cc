#include <fmt/format.h>

#include "pax/base/error.h"
#include "pax/base/files.h"
#include "pax/base/log.h"
#include "pax/checkpoint/catalog.h"
#include "pax/checkpoint/reader.h"
#include "pax/config/yaml.h"
#include "pax/interop/huggingface/import.h"

namespace pax::hf {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kVariables = "mdl_vars/";
constexpr std::string_view kLoraA = "/lora_a", kLoraB = "/lora_b";

/// The folder of a run's directory, a checkpoints folder or a checkpoint that has the kept files.
fs::path kept_files_of(const fs::path& run) {
  fs::path at = fs::absolute(run).lexically_normal();
  for (int i = 0; i < 3; ++i, at = at.parent_path()) {
    if (fs::exists(at / "hf" / "config.json")) return at / "hf";
    // A fine-tuned run says which checkpoint it began from.
    if (!fs::exists(at / "model_params.txt")) continue;
    const config::Value config = config::read_yaml(read_file(at / "model_params.txt"), "model_params.txt");
    const config::Value* task = config.find("task");
    const config::Value* train = task == nullptr ? nullptr : task->find("train");
    const config::Value* rules = train == nullptr ? nullptr : train->find("init_from_checkpoint_rules");
    if (rules == nullptr || !rules->is_map()) continue;
    for (const std::string& checkpoint : rules->keys) {
      if (fs::exists(fs::path(checkpoint) / "hf" / "config.json")) return fs::path(checkpoint) / "hf";
    }
  }
  fail<ConfigError>("{}: was not imported from Hugging Face; name a folder with the model's config.json (--like)",
                    run.string());
}

HostTree read_variables(const CheckpointReader& checkpoint) {
  HostTree variables;
  for (const auto& [name, type] : checkpoint.types()) {
    if (name.starts_with(kVariables)) variables.emplace(name.substr(kVariables.size()), checkpoint.read(name));
  }
  return variables;
}

bool same_types(const Tree<TensorType>& types, const HostTree& variables) {
  if (types.size() != variables.size()) return false;
  for (const auto& [name, type] : types) {
    const auto at = variables.find(name);
    if (at == variables.end() || at->second.shape() != type.shape) return false;
  }
  return true;
}

/// The table of the form of the model whose variables these are: repeated or written out, with a head or without.
WeightMap map_for(const HfConfig& config, const HostTree& variables, const fs::path& checkpoint) {
  for (const bool repeat : {true, false}) {
    for (const bool head : {false, true}) {
      const ModelPlan plan = plan_of(config, {.repeat_layers = repeat, .has_head = head});
      const Tree<TensorType> types = variables_of(plan.model);
      if (same_types(types, variables)) return weight_map(plan, types);
    }
  }
  Tree<TensorType> found;
  for (const auto& [name, value] : variables) found.emplace(name, value.type());
  require_same_types(checkpoint.string(), found, variables_of(plan_of(config).model),
                     fmt::format("name the folder that the model was imported from; this is {}", config.where()));
  fail<RuntimeError>("{}: its variables are not those of {}", checkpoint.string(), config.where());
}

DType file_dtype(const HfConfig& config) {
  const std::string name = config.text("dtype", config.text("torch_dtype", "float32"));
  if (name == "bfloat16") return DType::kBF16;
  if (name == "float16") return DType::kF16;
  return DType::kF32;
}

/// `w` + a b^T, whatever dimensions its last two stand for.
HostArray with_addition(const HostArray& w, const HostArray& a, const HostArray& b) {
  const std::vector<double> left = a.to_doubles(), right = b.to_doubles();
  std::vector<double> sum = w.to_doubles();
  const auto rank = static_cast<size_t>(a.shape()[-1]);
  const auto rows = static_cast<size_t>(a.shape()[-2]), columns = static_cast<size_t>(b.shape()[-2]);
  const size_t batch = left.size() / (rows * rank);
  for (size_t n = 0; n < batch; ++n) {
    for (size_t i = 0; i < rows; ++i) {
      const double* x = left.data() + (n * rows + i) * rank;
      for (size_t j = 0; j < columns; ++j) {
        const double* y = right.data() + (n * columns + j) * rank;
        double& out = sum[(n * rows + i) * columns + j];
        for (size_t k = 0; k < rank; ++k) out += x[k] * y[k];
      }
    }
  }
  return from_doubles(sum, w.type());
}

}  // namespace

bool merge_lora(HostTree& variables) {
  std::vector<std::string> places;
  for (const auto& [name, value] : variables) {
    if (name.ends_with(kLoraA)) places.push_back(name.substr(0, name.size() - kLoraA.size()));
  }
  for (const std::string& place : places) {
    const auto a = variables.find(place + std::string(kLoraA)), b = variables.find(place + std::string(kLoraB));
    const auto w = variables.find(place + "/w");
    if (b == variables.end() || w == variables.end()) {
      fail<RuntimeError>("{}: a low-rank addition without its other half or its weight", place);
    }
    w->second = with_addition(w->second, a->second, b->second);
    variables.erase(a);
    variables.erase(b);
  }
  return !places.empty();
}

ExportSummary export_folder(const ExportRequest& request) {
  const fs::path like = request.like.empty()                              ? kept_files_of(request.run)
                        : fs::exists(request.like / "hf" / "config.json") ? request.like / "hf"
                                                                          : request.like;
  if (!fs::exists(like / "config.json")) fail<ConfigError>("{}: has no config.json", like.string());
  const HfConfig config(read_file(like / "config.json"), (like / "config.json").string());
  const CheckpointReader checkpoint(find_checkpoint(request.run, request.step));
  HostTree variables = read_variables(checkpoint);
  ExportSummary summary{.step = checkpoint.step(), .tensors = 0, .merged_lora = merge_lora(variables)};
  const WeightMap map = map_for(config, variables, checkpoint.path());
  HostTree tensors = export_weights(map, variables);
  variables.clear();
  const DType dtype = file_dtype(config);
  for (auto& [name, array] : tensors) {
    if (array.dtype() != dtype) array = array.converted(dtype);
  }
  if (fs::exists(like / "extra.safetensors")) {
    for (auto& [name, array] : read_safetensors(like / "extra.safetensors")) tensors.emplace(name, std::move(array));
  }
  summary.tensors = tensors.size();
  fs::create_directories(request.out);
  for (const fs::directory_entry& entry : fs::directory_iterator(like)) {
    const std::string name = entry.path().filename().string();
    const bool weights = name.ends_with(".safetensors") || name.ends_with(".index.json") || name.ends_with(".bin");
    if (entry.is_regular_file() && !weights && name != "expected.json") {
      write_file_atomically(request.out / name, read_file(entry.path()));
    }
  }
  write_weight_files(request.out, tensors, request.max_file_bytes);
  return summary;
}

}  // namespace pax::hf
