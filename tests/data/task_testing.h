#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "pax/data/data_source.h"
#include "pax/data/task.h"

namespace pax::data {

/// A data source of given examples, as a config.
class GivenSource final : public DataSource {
 public:
  struct Config {
    using Product = GivenSource;
    static constexpr std::string_view kName = "test.GivenSource";
    std::shared_ptr<const std::vector<Example>> examples;
    static void fields(auto&, auto&&) {}
  };
  explicit GivenSource(const Config& config) : memory_(*config.examples) {}
  int64_t size() const override { return memory_.size(); }
  Example at(int64_t index) const override { return memory_.at(index); }
  DatasetIdentity identity() const override { return memory_.identity(); }

 private:
  MemorySource memory_;
};

/// A task over examples that have their features already.
inline Tpl<TaskOrMixture> ids_task(std::vector<Example> examples, bool with_inputs = false) {
  GivenSource::Config source;
  source.examples = std::make_shared<const std::vector<Example>>(std::move(examples));
  Task::Config config;
  config.name = "toy";
  config.splits = {{"train", source}};
  config.output_features["targets"] = OutputFeature{};
  if (with_inputs) config.output_features["inputs"] = OutputFeature{};
  return config;
}

inline std::unique_ptr<ExampleSet> open_task(const Tpl<TaskOrMixture>& task, const SetOptions& options) {
  return task.build()->open(options);
}

}  // namespace pax::data
