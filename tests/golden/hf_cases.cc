#include "tests/golden/hf_cases.h"

#include <fmt/format.h>

#include <algorithm>

#include "pax/base/error.h"
#include "pax/base/files.h"
#include "pax/config/yaml.h"
#include "tests/golden/hf_folder.h"

namespace pax::golden {
namespace {

namespace fs = std::filesystem;

/// "" when both trees hold the same arrays bit for bit.
std::string same_arrays(const HostTree& got, const HostTree& expected) {
  for (const auto& [name, array] : expected) {
    const auto at = got.find(name);
    if (at == got.end()) return name + " is missing";
    if (at->second.type() != array.type()) {
      return fmt::format("{} is {} instead of {}", name, to_string(at->second.type()), to_string(array.type()));
    }
    if (!std::ranges::equal(at->second.bytes(), array.bytes())) return name + " differs";
  }
  return "";
}

std::string same_models(const hf::ImportedModel& got, const hf::ImportedModel& expected) {
  if (config::print(config::Ref(got.model)) != config::print(config::Ref(expected.model))) {
    return "the models' configs differ";
  }
  return same_arrays(got.variables, expected.variables);
}

/// What a folder holds a second time, as published checkpoints have it, loads equally.
void check_hub_spelling(const HfFolder& folder, const hf::ImportedModel& model, HfChecks& checks) {
  const fs::path config_path = folder.path / "config.hub.json", weights_path = folder.path / "model.hub.safetensors";
  if (!fs::exists(config_path)) return;
  const hf::HfConfig config(read_file(config_path), config_path.string());
  const hf::ImportOptions options{.repeat_layers = false};
  checks.add("config.hub.json", same_models(hf::import_model(config, hf::WeightFiles(folder.path), options), model));
  if (!fs::exists(weights_path)) return;
  checks.add("model.hub.safetensors",
             same_models(hf::import_model(config, hf::WeightFiles(weights_path), options), model));
}

/// The tensors of the files come back bit for bit, from layers written out and from repeated ones.
void check_export(const hf::WeightFiles& files, const hf::ImportedModel& model, const std::string& name,
                  HfChecks& checks) {
  HostTree expected;
  for (const auto& [tensor, type] : files.types()) expected.emplace(tensor, files.read(tensor));
  checks.add(name, same_arrays(hf::export_weights(model.weights, model.variables), expected));
}

void run_model(const HfRun& run) {
  const std::string& type = run.folder.config.model_type();
  if (type == "t5") return check_encoder_decoder(run);
  if (type == "vit") return check_image_classifier(run);
  check_decoder(run);
}

}  // namespace

std::vector<CaseResult> run_hf_folder(const CaseFile& file, const Context& context) {
  const HfFolder folder(file.path.parent_path());
  const std::string name = fs::path(file.name).parent_path().string();
  std::vector<CaseResult> results;
  HfChecks checks(name, results);
  const hf::WeightFiles files(folder.path);
  const hf::ImportedModel model = hf::import_model(folder.config, files, {.repeat_layers = false});
  check_hub_spelling(folder, model, checks);
  check_export(files, model, "export", checks);
  check_export(files, hf::import_model(folder.config, files), "export of repeated layers", checks);
  run_model({.folder = folder, .model = model, .context = context, .checks = checks});
  return results;
}

}  // namespace pax::golden
