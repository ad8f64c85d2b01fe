#include <gmock/gmock.h>

#include "pax/layers/attention/dot_product_attention_xl.h"
#include "pax/layers/attention/grouped_query_attention.h"
#include "pax/layers/attention/local_self_attention.h"
#include "pax/layers/attention/multi_query_attention.h"
#include "pax/layers/positions.h"
#include "pax/layers/transformers/stacked_transformer_repeated.h"
#include "pax/ops/constant.h"
#include "pax/optim/adam.h"
#include "pax/serving/step_model.h"
#include "pax/task/models/language_model.h"

namespace pax {
namespace {

constexpr int64_t kVocab = 23, kLength = 40;
// More than one prefill's padding, less than it, one token.
const std::vector<int64_t> kPrompts{34, 7, 1};
constexpr int64_t kSteps = 5;

/// A form of attention: its name and what it changes in a layer.
struct Form {
  const char* name;
  std::function<void(Tpl<TransformerLayer>&)> change;
  bool many_rows = true;  ///< several texts at a time
};

template <class C>
C local(int64_t left, std::optional<int64_t> block) {
  C config;
  config.left_context = left;
  config.right_context = 0;
  config.block_size = block;
  return config;
}

std::vector<Form> forms() {
  const auto attention = [](auto config) {
    return [config](Tpl<TransformerLayer>& layer) { layer.set("tr_atten_tpl", config); };
  };
  const auto field = [](const char* path, auto value) {
    return [path, value](Tpl<TransformerLayer>& layer) { layer.set(std::string("tr_atten_tpl.") + path, value); };
  };
  MultiQueryDotProductAttention::Config one_kv_head, two_kv_heads, rotary_kv, windowed;
  two_kv_heads.num_kv_heads = 2;
  rotary_kv.num_kv_heads = 2;
  rotary_kv.use_rotary_position_emb = true;
  rotary_kv.consolidate_rope_key_state = true;
  windowed.num_kv_heads = 2;
  windowed.local_window_size = std::array<int64_t, 2>{4, 0};
  DotProductAttentionXL::Config xl;
  xl.rel_pos_emb_dim = 16;
  auto local_xl = local<LocalSelfAttentionXL::Config>(5, 4);
  local_xl.rel_pos_emb_dim = 16;
  return {
      {"DotProduct", [](Tpl<TransformerLayer>&) {}},
      {"CombinedQkv", field("combine_qkv", true)},
      {"Rotary", field("use_rotary_position_emb", true)},
      {"RelativeBias", field("relative_bias_tpl", RelativeBias::Config{})},
      {"LogitCap", field("atten_logit_cap", 2.0)},
      {"ExtraLogit", field("attention_extra_logit", 0.5)},
      {"DepthwiseConvolution", field("dconv_qkv", true), false},
      {"MultiQuery", attention(one_kv_head)},
      {"Grouped", attention(two_kv_heads)},
      {"GroupedRotary", attention(rotary_kv)},
      {"Window", attention(windowed)},
      {"LocalSelf", attention(local<LocalSelfAttention::Config>(5, 4))},
      {"LocalAlibi", attention(local<LocalSelfAttentionAlibi::Config>(5, 4))},
      {"LocalRelativeBias", attention(local<LocalSelfAttentionRelativeBias::Config>(5, 4)), false},
      {"LocalXl", attention(local_xl), false},
      {"Xl", attention(xl), false},
  };
}

ExperimentConfig experiment(const Form& form, bool repeated) {
  StackedTransformer::Config block;
  block.num_layers = repeated ? 1 : 2;
  block.hidden_dims = 32;
  block.num_heads = 4;
  auto& layer = std::get<0>(block.transformer_layer_params_tpl);
  form.change(layer);
  TransformerLm::Config lm;
  lm.model_dims = 16;
  lm.vocab_size = kVocab;
  lm.stacked_transformer_tpl = block;
  if (repeated) {
    StackedTransformerRepeated::Config stack;
    stack.block = block;
    stack.x_times = 2;
    lm.stacked_transformer_tpl = stack;
  }
  LanguageModel::Config model;
  model.lm_tpl = lm;
  model.params_init = WeightInit::gaussian(0.2);
  ExperimentConfig config;
  config.task.model = model;
  config.task.train.learner.set("optimizer", Adam::Config{});
  config.platform.deps_dir = PAX_DEPS_DIR;
  return config;
}

std::vector<int32_t> text(int64_t row) {
  std::vector<int32_t> ids;
  uint32_t state = static_cast<uint32_t>(row) + 11;
  for (int64_t i = 0; i < kPrompts[static_cast<size_t>(row)] + kSteps; ++i) {
    state = state * 1664525u + 1013904223u;
    ids.push_back(static_cast<int32_t>((state >> 16) % kVocab));
  }
  return ids;
}

/// Logits [T, V] of a whole text by one forward pass.
HostArray full_forward(Session& session, const DeviceTree& variables, const std::vector<int32_t>& ids) {
  TracedProgram program;
  Graph& graph = *program.graph;
  ModelTrace trace(graph, ModelTrace::Mode::kEval);
  const std::shared_ptr<BaseModel> model = build_model(session.config().task, trace);
  const Shape shape{1, static_cast<int64_t>(ids.size())};
  const Tensor tokens = constant(graph, HostArray::of(std::span<const int32_t>(ids), shape));
  const LmOutput output = dynamic_cast<const LanguageModel&>(*model).lm().predict(
      {.ids_bt = tokens, .paddings_bt = full(graph, {DType::kF32, shape}, 0)});
  graph.output("logits", output.logits, Sharding{});
  DeviceTree inputs = variables;
  return session.compile(program, "full")->run(inputs).at("logits").to_host();
}

class CachedStep : public ::testing::TestWithParam<std::tuple<size_t, bool>> {
 protected:
  Form form() const { return forms()[std::get<0>(GetParam())]; }
  bool repeated() const { return std::get<1>(GetParam()); }
};

TEST_P(CachedStep, EqualsTheFullForwardPassAtEveryPosition) {
  Session session(experiment(form(), repeated()));
  const DeviceTree variables = session.compile(trace_init(session.config().task), "init")->run({});
  const int64_t rows = form().many_rows ? static_cast<int64_t>(kPrompts.size()) : 1;
  StepModel steps(session, variables, {.rows = rows, .length = kLength});
  std::vector<HostArray> expected;
  for (int64_t row = 0; row < rows; ++row) expected.push_back(full_forward(session, variables, text(row)));
  for (int64_t row = 0; row < rows; ++row) {
    std::vector<int32_t> prompt = text(row);
    prompt.resize(static_cast<size_t>(kPrompts[static_cast<size_t>(row)]));
    steps.prefill(row, prompt);
  }
  for (int64_t step = 0; step <= kSteps; ++step) {
    std::vector<int32_t> ids, positions;
    for (int64_t row = 0; row < rows; ++row) {
      const int64_t at = kPrompts[static_cast<size_t>(row)] - 1 + step;
      ids.push_back(text(row)[static_cast<size_t>(at)]);
      positions.push_back(static_cast<int32_t>(at));
    }
    const std::vector<double> logits = steps.step(ids, positions).to_doubles();
    for (size_t row = 0; row < ids.size(); ++row) {
      const std::vector<double> whole = expected[row].to_doubles();
      for (int64_t v = 0; v < kVocab; ++v) {
        ASSERT_NEAR(logits[row * kVocab + static_cast<size_t>(v)],
                    whole[static_cast<size_t>(positions[row] * kVocab + v)], 1e-5)
            << "row " << row << ", position " << positions[row] << ", token " << v;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Forms, CachedStep,
                         ::testing::Combine(::testing::Range<size_t>(0, forms().size()), ::testing::Bool()),
                         [](const auto& info) {
                           return std::string(forms()[std::get<0>(info.param)].name) +
                                  (std::get<1>(info.param) ? "Repeated" : "");
                         });

TEST(StepModel, SaysWhenAPromptIsLongerThanTheCacheOrHasAnUnknownToken) {
  Session session(experiment(forms()[0], false));
  StepModel steps(session, session.compile(trace_init(session.config().task), "init")->run({}),
                  {.rows = 1, .length = 8});
  const auto error = [&](const std::vector<int32_t>& ids) -> std::string {
    try {
      steps.prefill(0, ids);
    } catch (const std::exception& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_THAT(error(std::vector<int32_t>(9, 1)), ::testing::HasSubstr("9 tokens, the cache holds 8"));
  EXPECT_THAT(error({}), ::testing::HasSubstr("0 tokens"));
  EXPECT_THAT(error({1, kVocab}), ::testing::HasSubstr("token 23 is not in the model's vocabulary of 23"));
}

TEST(StepModel, CompilesOnceWhateverThePromptsLength) {
  Session session(experiment(forms()[0], false));
  StepModel steps(session, session.compile(trace_init(session.config().task), "init")->run({}),
                  {.rows = 1, .length = 32});
  steps.prepare(1);
  const int64_t before = session.compile_count();
  for (int64_t tokens = 1; tokens <= 32; ++tokens) {
    steps.prefill(0, std::vector<int32_t>(static_cast<size_t>(tokens), 1));
    steps.step(std::vector<int32_t>{1}, std::vector<int32_t>{static_cast<int32_t>(tokens - 1)});
  }
  EXPECT_EQ(session.compile_count(), before);
}

}  // namespace
}  // namespace pax
