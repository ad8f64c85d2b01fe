// Runs what `paxml export stablehlo` wrote: reads token ids, writes on with the likeliest tokens, prints all ids.
// Usage: run_stablehlo PLUGIN FOLDER NUM_TOKENS ID [ID …]

#include <cstdio>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>

#include "pax/array/safetensors.h"
#include "pax/base/files.h"
#include "pax/pjrt/client.h"
#include "pax/pjrt/executable.h"

namespace {

using nlohmann::json;

pax::TensorType type_of(const json& value) {
  return {*pax::parse_dtype(value["dtype"].get<std::string>()), pax::Shape(value["shape"].get<std::vector<int64_t>>())};
}

/// The exported step with its weights and cache on a device.
class Model {
 public:
  Model(const std::filesystem::path& plugin, const std::filesystem::path& folder)
      : client_(pax::Client::create(pax::Plugin::load(plugin))),
        manifest_(json::parse(pax::read_file(folder / "manifest.json"))),
        step_(client_->compile(pax::read_file(folder / "extend_step.mlir"))) {
    const pax::SafetensorsReader weights(folder / "weights.safetensors");
    for (const json& argument : manifest_["arguments"]) {
      const std::string name = argument["name"];
      if (argument["role"] == "weight") values_[name] = client_->to_device(weights.read(name));
      if (argument["role"] == "cache") values_[name] = client_->to_device(pax::HostArray(type_of(argument)));
    }
  }

  int64_t length() const { return manifest_["length"]; }

  /// The likeliest token after `id` at `position`.
  int32_t step(int32_t id, int32_t position) {
    values_["ids"] = client_->to_device(pax::HostArray::of<int32_t>({id}, {1}));
    values_["positions"] = client_->to_device(pax::HostArray::of<int32_t>({position}, {1}));
    pax::BufferList arguments;
    for (const json& argument : manifest_["arguments"]) arguments.push_back(values_.at(argument["name"]));
    const pax::BufferList results = step_.execute(arguments);
    int32_t best = 0;
    for (size_t i = 0; i < results.size(); ++i) {
      const json& result = manifest_["results"][i];
      if (result["role"] == "cache") values_[result["name"]] = results[i];
      if (result["role"] == "output") {
        const pax::HostArray logits = results[i].to_host();
        const auto all = logits.values<float>();
        best = static_cast<int32_t>(std::max_element(all.begin(), all.end()) - all.begin());
      }
    }
    return best;
  }

 private:
  std::shared_ptr<const pax::Client> client_;
  const json manifest_;
  const pax::LoadedExecutable step_;
  std::map<std::string, pax::Buffer> values_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) {
    std::fprintf(stderr, "usage: run_stablehlo PLUGIN FOLDER NUM_TOKENS ID [ID ...]\n");
    return 2;
  }
  try {
    Model model(argv[1], argv[2]);
    std::vector<int32_t> ids;
    for (int i = 4; i < argc; ++i) ids.push_back(std::atoi(argv[i]));
    const size_t total = std::min<size_t>(ids.size() + std::strtoul(argv[3], nullptr, 10), model.length());
    for (size_t position = 0; ids.size() < total; ++position) {
      const int32_t next = model.step(ids[position], static_cast<int32_t>(position));
      if (position + 1 == ids.size()) ids.push_back(next);
    }
    for (const int32_t id : ids) std::printf("%d ", id);
    std::printf("\n");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "run_stablehlo: %s\n", error.what());
    return 1;
  }
}
