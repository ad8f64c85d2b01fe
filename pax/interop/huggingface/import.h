#pragma once

#include <filesystem>
#include <optional>

#include "pax/config/registry.h"
#include "pax/interop/huggingface/model.h"

namespace pax::hf {

/// What `paxml import hf` is asked.
struct ImportRequest {
  std::filesystem::path folder;    ///< config.json, safetensors files, a tokenizer's files
  std::filesystem::path out;       ///< a new run's directory
  std::string data = "train.txt";  ///< text to train on, for the experiment
  int64_t lora_rank = 0;           ///< above 0: the experiment trains low-rank additions only
};

struct ImportSummary {
  std::string model_type;
  int64_t num_params = 0;
  std::filesystem::path experiment;
  std::vector<std::string> unused;
};

/// Imports a Hugging Face folder: `out`/checkpoints/checkpoint_00000000 with the weights, `out`/experiment.yaml, which
/// evaluates and decodes them in place and fine-tunes them in another directory, and `out`/hf with what the export
/// needs.
ImportSummary import_folder(const ImportRequest& request);

struct ExportRequest {
  std::filesystem::path run;  ///< a run's directory, or a checkpoint
  std::optional<int64_t> step{};
  std::filesystem::path out;
  std::filesystem::path like;  ///< a folder with the config.json; empty: the one that the run was imported from
  size_t max_file_bytes = 5'000'000'000;
};

struct ExportSummary {
  int64_t step = 0;
  size_t tensors = 0;
  bool merged_lora = false;
};

/// The reverse: the variables of a run as a Hugging Face folder, in the element type that its config.json names.
/// Low-rank additions are merged into their weights.
ExportSummary export_folder(const ExportRequest& request);

/// Adds every low-rank addition (`lora_a`, `lora_b`) to the weight beside it. True if there was one.
bool merge_lora(HostTree& variables);

}  // namespace pax::hf
