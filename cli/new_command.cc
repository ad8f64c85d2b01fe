#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/invocation.h"
#include "pax/base/error.h"
#include "pax/base/files.h"

namespace pax::cli {
namespace {

constexpr std::string_view kProject = R"(cmake_minimum_required(VERSION 3.25)
project(NAME LANGUAGES CXX)
set(CMAKE_CXX_STANDARD 20)
find_package(pax REQUIRED)
add_library(NAME SHARED NAME.cc)
target_link_libraries(NAME PRIVATE pax::experiments)
)";

constexpr std::string_view kExperiment = R"(#include "pax/config/config.h"
#include "pax/experiments/extension.h"
#include "pax/experiments/lm/lm_cloud.h"

namespace {

/// Say here what it is for.
struct NAME : pax::LmCloudSpmd {
  using Product = pax::Preset<NAME>;
  static constexpr std::string_view kName = "mine.NAME";
  static constexpr std::string_view kDoc = "A small language model on synthetic rows.";
  NAME() {
    NUM_LAYERS = 2;
    MODEL_DIMS = 64;
    HIDDEN_DIMS = 256;
    DIMS_PER_HEAD = 16;
    PERCORE_BATCH_SIZE = 4;
    NUM_TRAIN_STEPS = 100;
    ICI_MESH_SHAPE = {1, 1, 1};
  }
};

}  // namespace

void pax_register(pax::config::Registry& registry) { registry.add<NAME>(); }
)";

constexpr std::string_view kLayer = R"(#include "pax/experiments/extension.h"
#include "pax/layers/layer.h"
#include "pax/ops/elementwise.h"

namespace {

/// x scaled by a learned number.
class NAME final : public pax::Layer {
 public:
  struct Config : pax::LayerConfig {
    using Product = NAME;
    static constexpr std::string_view kName = "mine.NAME";
    static constexpr std::string_view kDoc = "Scales by a learned number.";
    double initial_scale = 1.0;
    static void fields(auto& self, auto&& visit) {
      LayerConfig::fields(self, visit);
      visit("initial_scale", self.initial_scale, "First value of the scale.");
    }
  };
  NAME(const Config& config, const pax::Scope& scope)
      : Layer(config, scope),
        scale_(param("scale", {.shape = {}, .init = pax::WeightInit::constant(config.initial_scale)})) {}
  pax::Tensor fprop(pax::Tensor x) const override { return x * scale_; }

 private:
  pax::Tensor scale_;
};

}  // namespace

void pax_register(pax::config::Registry& registry) { registry.add<NAME::Config>(); }
)";

std::string named(std::string_view text, const std::string& name) {
  std::string out(text);
  for (size_t at = out.find("NAME"); at != std::string::npos; at = out.find("NAME", at + name.size())) {
    if (at > 0 && out[at - 1] == '_') continue;
    out.replace(at, 4, name);
  }
  return out;
}

void require_identifier(const std::string& name) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  bool good = !name.empty() && is_letter(name[0]);
  for (const char c : name) good = good && (is_letter(c) || (c >= '0' && c <= '9'));
  if (!good) fail<ConfigError>("new: \"{}\" is no C++ name; use letters and digits", name);
}

int new_command(std::string_view source, const std::string& name, const std::filesystem::path& directory) {
  require_identifier(name);
  const std::filesystem::path file = directory / (name + ".cc");
  if (std::filesystem::exists(file)) fail<ConfigError>("new: {} is there already", file.string());
  std::filesystem::create_directories(directory);
  write_file_atomically(file, named(source, name));
  if (!std::filesystem::exists(directory / "CMakeLists.txt")) {
    write_file_atomically(directory / "CMakeLists.txt", named(kProject, name));
  }
  fmt::print(
      "{0}\ncmake -S {1} -B {1}/build -Dpax_DIR=PAX_BUILD && cmake --build {1}/build, then --load "
      "{1}/build/lib{2}.so\n",
      file.string(), directory.string(), name);
  return kDone;
}

}  // namespace

void add_new_command(CLI::App& app, Invocation& invocation) {
  CLI::App* add = app.add_subcommand("new", "Write a starting file that builds")->require_subcommand(1);
  for (const auto& [kind, source] : {std::pair{"experiment", kExperiment}, {"layer", kLayer}}) {
    CLI::App* sub = add->add_subcommand(kind, "A source file and a CMake project around it");
    const auto words = std::make_shared<std::pair<std::string, std::string>>("", ".");
    sub->add_option("name", words->first, "Of the class")->required();
    sub->add_option("directory", words->second, "Where to write");
    sub->callback([&invocation, words, source = source] {
      invocation.command = [words, source] { return new_command(source, words->first, words->second); };
    });
  }
}

}  // namespace pax::cli
