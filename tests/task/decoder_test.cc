#include <gmock/gmock.h>

#include "pax/ir/transform.h"
#include "pax/ops/constant.h"
#include "pax/ops/convert.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/logic.h"
#include "pax/ops/random.h"
#include "pax/ops/reshape.h"
#include "pax/runtime/program.h"
#include "pax/task/decoding/sample_decoder.h"
#include "tests/runtime/testing.h"

namespace pax {
namespace {

constexpr int64_t kVocab = 8, kEos = 2;
constexpr int32_t kWord = 5;

/// A model that writes `kWord`, and where row r has written `ends[r]` tokens its end; -1: never.
class ScriptedModel final : public DecodeModel {
 public:
  ScriptedModel(Graph& graph, std::vector<int32_t> ends, int64_t prompt)
      : graph_(graph), ends_(std::move(ends)), prompt_(prompt) {}
  Graph& graph() const override { return graph_; }
  Tree<Tensor> prefill(const Prompt& prompt) const override {
    return {{"seen", convert(expand_dims(prompt.ids_bt, 2), DType::kF32)}};
  }
  Tensor step(const DecodeStep& step, Tree<Tensor>&) const override {
    const int64_t rows = step.ids_b.dim(0);
    std::vector<int32_t> ends_of_rows;  // Samples of a prompt are rows one after the other.
    for (int64_t row = 0; row < rows; ++row) {
      ends_of_rows.push_back(ends_[static_cast<size_t>(row) * ends_.size() / static_cast<size_t>(rows)]);
    }
    const Tensor written = step.time_step - static_cast<double>(prompt_ - 1);
    const Tensor ends = constant(graph_, HostArray::of(std::span<const int32_t>(ends_of_rows), {rows}));
    const Tensor token = select(eq(ends, written), full(graph_, {DType::kS32, {rows}}, kEos),
                                full(graph_, {DType::kS32, {rows}}, kWord));
    const Tensor place = iota(graph_, {DType::kS32, {rows, kVocab}}, 1);
    return select(eq(place, expand_dims(token, 1)), full(graph_, {DType::kF32, {}}, 9), 0.0);
  }
  Tensor random_key() const override { return pax::random_key(graph_, 3); }

 private:
  Graph& graph_;
  const std::vector<int32_t> ends_;
  const int64_t prompt_;
};

HostTree decode(const Tpl<Decoder>& decoder, const std::vector<int32_t>& ends, Tree<HostArray> options = {}) {
  Graph graph;
  const auto rows = static_cast<int64_t>(ends.size());
  const Tensor ids = full(graph, {DType::kS32, {rows, 1}}, 3);
  DecodeInputs inputs{.ids_bt = ids,
                      .paddings_bt = full(graph, {DType::kF32, {rows, 1}}, 0),
                      .lengths_b = full(graph, {DType::kS32, {rows}}, 1)};
  for (auto& [name, value] : options) inputs.options[name] = constant(graph, value);
  for (const auto& [name, value] : decoder.build()->decode(ScriptedModel(graph, ends, 1), inputs)) {
    graph.output(name, value);
  }
  static CompileCache cache{std::filesystem::path()};
  const auto mesh = std::make_shared<DeviceMesh>(default_client(), Mesh{});
  return to_host(Program(mesh, program_text(*lower(graph, {})), cache).run({}));
}

GreedyDecoder::Config greedy(int64_t seqlen) {
  GreedyDecoder::Config config;
  config.seqlen = seqlen;
  config.eos_id = kEos;
  return config;
}

std::vector<double> values(const HostTree& decoded, const char* name) { return decoded.at(name).to_doubles(); }

TEST(GreedyDecoder, EndsEachRowAtItsOwnEndAndPadsBehindIt) {
  const HostTree decoded = decode(greedy(9), {2, -1});
  EXPECT_THAT(values(decoded, "decode_lengths"), ::testing::ElementsAre(4, 9));
  EXPECT_THAT(values(decoded, "output_ids"),
              ::testing::ElementsAre(3, 5, 5, 2, 0, 0, 0, 0, 0, 3, 5, 5, 5, 5, 5, 5, 5, 5));
}

TEST(GreedyDecoder, WritesNoMoreOnceAllRowsHaveEnded) {
  const HostTree decoded = decode(greedy(9), {2, 1});
  EXPECT_THAT(values(decoded, "decode_lengths"), ::testing::ElementsAre(4, 3));
  EXPECT_THAT(values(decoded, "output_ids"),
              ::testing::ElementsAre(3, 5, 5, 2, 0, 0, 0, 0, 0, 3, 5, 2, 0, 0, 0, 0, 0, 0));
}

TEST(GreedyDecoder, EndsAtAnyOfSeveralEnds) {
  GreedyDecoder::Config config = greedy(6);
  config.eos_id = std::vector<int64_t>{7, kWord};
  EXPECT_THAT(values(decode(config, {-1}), "decode_lengths"), ::testing::ElementsAre(2));
}

TEST(SampleDecoder, TakesEachRowsOwnLimit) {
  SampleDecoder::Config config;
  config.seqlen = 9;
  config.eos_id = kEos;
  config.temperature = 0;
  config.max_decode_steps = OneOrMore{int64_t{8}};
  const HostTree decoded =
      decode(config, {-1, -1}, {{"per_example_max_decode_steps", HostArray::of<int32_t>({2, 5}, {2})}});
  EXPECT_THAT(values(decoded, "decode_lengths"), ::testing::ElementsAre(3, 6));
}

TEST(SampleDecoder, OfTemperatureZeroWritesWhatTheGreedyOneDoes) {
  SampleDecoder::Config config;
  config.seqlen = 9;
  config.eos_id = kEos;
  config.temperature = 0;
  EXPECT_EQ(values(decode(config, {3, -1}), "output_ids"), values(decode(greedy(9), {3, -1}), "output_ids"));
}

TEST(SampleDecoder, WritesSeveralSamples) {
  SampleDecoder::Config config;
  config.seqlen = 9;
  config.eos_id = kEos;
  config.num_samples = 3;
  config.temperature = 20;
  config.k = 0;
  const HostTree decoded = decode(config, {-1});
  EXPECT_EQ(decoded.at("output_ids").shape(), (Shape{1, 3, 9}));
  const std::vector<double> ids = values(decoded, "output_ids");
  EXPECT_NE(std::vector<double>(ids.begin(), ids.begin() + 9), std::vector<double>(ids.begin() + 9, ids.begin() + 18));
}

}  // namespace
}  // namespace pax
