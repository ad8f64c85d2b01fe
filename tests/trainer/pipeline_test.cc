// A pipelined stack computes what its stages one after the other do, and trains as they do.

#include <gmock/gmock.h>

#include <cstring>

#include "pax/data/batch.h"
#include "pax/layers/transformers/pipelined_transformer.h"
#include "pax/layers/transformers/stacked_transformer_repeated.h"
#include "pax/task/models/language_model.h"
#include "pax/trainer/session.h"
#include "tests/trainer/small_model.h"

namespace pax {
namespace {

constexpr int kSteps = 5;
constexpr int64_t kRows = 8, kVocabulary = 320;
const Layout kOneDevice{"one device", {"replica", "data", "mdl"}, {1, 1, 1}, {1, 1, 1}, {}};

struct Pipe {
  int64_t stages, turns, microbatches;
};

/// The small model with four layers: a loop over them, or stages.
ExperimentConfig stacked_model(const Layout& layout, std::optional<Pipe> pipe) {
  ExperimentConfig config = small_model(layout, Model::kDense, {.rows = kRows, .vocabulary = kVocabulary});
  const char* const path = "lm_tpl.stacked_transformer_tpl";
  if (!pipe) {
    config.task.model.set("lm_tpl.stacked_transformer_tpl.x_times", int64_t{4});
    return config;
  }
  PipelinedTransformer::Config pipelined;
  pipelined.pipeline_stage = config.task.model.get<Tpl<TransformerStack>>("lm_tpl.stacked_transformer_tpl.block");
  pipelined.num_pipeline_stages = pipe->stages;
  pipelined.circular_repeat = pipe->turns;
  pipelined.num_pipeline_microbatches = pipe->microbatches;
  config.task.model.set(path, pipelined);
  if (layout.axes.front() == "stage") {
    auto stack = config.task.model.get<Tpl<TransformerStack>>(path);
    set_weight_split(stack, "stages", {{"stage"}});
  }
  return config;
}

/// `name` in the pipelined model.
std::string pipelined_name(std::string name) {
  const std::string from = "transformer/repeat/sub", to = "transformer/pipeline/body";
  const size_t at = name.find(from);
  return at == std::string::npos ? name : name.replace(at, from.size(), to);
}

HostArray with_shape(const HostArray& array, const TensorType& type) {
  HostArray out(type);
  std::memcpy(out.mutable_bytes().data(), array.bytes().data(), array.bytes().size());
  return out;
}

std::vector<float> losses(Session& session, const HostTree& first, int steps) {
  const TracedProgram traced = trace_train_step(session.config().task, data::lm_batch_spec(kRows, kPositions));
  HostTree host;
  for (const StateEntry& entry : traced.state) {
    for (const auto& [name, array] : first) {
      if (pipelined_name(name) == pipelined_name(entry.name)) host.emplace(entry.name, with_shape(array, entry.type));
    }
  }
  DeviceTree state = session.state_to_device(host, traced.state);
  const auto step = session.compile(traced, "train_step");
  std::vector<float> out;
  for (int i = 0; i < steps; ++i) {
    const HostTree batch = batch_of(kRows, kVocabulary, static_cast<uint32_t>(7 + i));
    const DeviceTree results = step->step(state, session.batch_to_device(batch));
    out.push_back(results.at("metrics/total_loss/value").to_host().values<float>()[0]);
  }
  return out;
}

void expect_sequential(const Layout& layout, const Pipe& pipe) {
  Session one(stacked_model(kOneDevice, {}));
  const HostTree first = to_host(one.compile(trace_init(one.config().task), "init")->run({}));
  const std::vector<float> expected = losses(one, first, kSteps);
  Session piped(stacked_model(layout, pipe));
  const std::vector<float> actual = losses(piped, first, kSteps);
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(actual[i], expected[i], 1e-5 * expected[i]) << "step " << i + 1;
  }
}

TEST(Pipeline, OfFourStagesTrainsAsALoopOverTheLayers) { expect_sequential(kOneDevice, {4, 1, 4}); }

TEST(Pipeline, WithFewerMicrobatchesThanStagesDoesToo) { expect_sequential(kOneDevice, {4, 1, 2}); }

TEST(Pipeline, ThatGoesRoundTwiceDoesToo) { expect_sequential(kOneDevice, {2, 2, 4}); }

TEST(Pipeline, OverDevicesDoesToo) {
  expect_sequential({"stages", {"stage", "replica", "data", "mdl"}, {2, 1, 2, 2}, {1, 1, 1, 1}, {}}, {2, 2, 4});
}

}  // namespace
}  // namespace pax
