#pragma once

#include <filesystem>
#include <optional>

#include "pax/config/value.h"
#include "pax/interop/huggingface/model.h"
#include "tests/golden/case.h"
#include "tests/golden/compare.h"

namespace pax::golden {

/// A Hugging Face folder with what its model is expected to give.
struct HfFolder {
  std::filesystem::path path;
  config::Value info;  ///< expected.json
  HostTree expected;
  hf::HfConfig config;

  explicit HfFolder(const std::filesystem::path& path);

  /// `<name>` of expected.safetensors, or nullptr.
  const HostArray* find(const std::string& name) const;
  /// Integers as s32. Throws RuntimeError when it is missing.
  HostArray integers(const std::string& name) const;
  Tolerance tolerance(std::string_view of) const;
};

/// Collects what differs.
class HfChecks {
 public:
  HfChecks(std::string name, std::vector<CaseResult>& results) : name_(std::move(name)), results_(results) {}
  void add(const std::string& what, std::string message) {
    results_.push_back({name_ + "/" + what, std::move(message)});
  }

 private:
  std::string name_;
  std::vector<CaseResult>& results_;
};

/// What a program made of a model gives.
struct HfRun {
  const HfFolder& folder;
  const hf::ImportedModel& model;
  const Context& context;
  HfChecks& checks;
};

// One for each kind of model: all cases of the folder.
void check_decoder(const HfRun& run);
void check_encoder_decoder(const HfRun& run);
void check_image_classifier(const HfRun& run);

/// Compares rows where `mask` is not 0 (all of them without one).
std::string compare_rows(const std::string& name, const HostArray& got, const HostArray& expected,
                         const HostArray* mask, const Tolerance& tolerance);

/// The value that leaves the layer at `path` (null when there is no such layer), and the one that goes into it.
Tensor output_of(Graph& graph, const std::string& path);
Tensor input_of(Graph& graph, const std::string& path);

/// Gradients of `loss` for all weights as outputs `grad/<variable>`.
void output_gradients(Graph& graph, const ModelTrace& trace, Tensor loss);
/// Compares `<prefix><tensor>` of the folder with those outputs.
void check_gradients(const HfRun& run, const std::string& prefix, const HostTree& results);

}  // namespace pax::golden
