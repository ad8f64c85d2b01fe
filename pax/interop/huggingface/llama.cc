// The families that follow Llama: RMS norms, rotary positions, gated feed-forward layers, no biases unless asked for.

#include <fmt/format.h>

#include <cmath>

#include "pax/interop/huggingface/decoder.h"
#include "pax/interop/huggingface/rope.h"

namespace pax::hf {
namespace {

constexpr TableRow kTable[] = {
    {"model.embed_tokens.weight", "params/lm/embedding_lookup/emb_var", "v d -> v d"},
    {"model.embed_tokens.weight", "params/lm/softmax/w", "v d -> v d"},
    {"lm_head.weight", "params/lm/softmax/logits_ffn/linear/w", "v d -> d v"},
    {"model.norm.weight", "params/lm/final_ln/scale", "d -> d"},
    {"model.layers.{}.input_layernorm.weight", "{layer}/layer_norm/scale", "d -> d"},
    {"model.layers.{}.post_attention_layernorm.weight", "{layer}/ff_layer/layer_norm/scale", "d -> d"},
    {"model.layers.{}.self_attn.q_proj.weight", "{layer}/self_attention/query/w", "(n h) d -> d n h"},
    {"model.layers.{}.self_attn.q_proj.bias", "{layer}/self_attention/query/b", "(n h) -> n h"},
    {"model.layers.{}.self_attn.k_proj.weight", "{layer}/self_attention/key/w", "(k h) d -> d k h"},
    {"model.layers.{}.self_attn.k_proj.bias", "{layer}/self_attention/key/b", "(k h) -> k h"},
    {"model.layers.{}.self_attn.v_proj.weight", "{layer}/self_attention/value/w", "(k h) d -> d k h"},
    {"model.layers.{}.self_attn.v_proj.bias", "{layer}/self_attention/value/b", "(k h) -> k h"},
    {"model.layers.{}.self_attn.o_proj.weight", "{layer}/self_attention/post/w", "d (n h) -> d n h"},
    {"model.layers.{}.self_attn.o_proj.bias", "{layer}/self_attention/post/b", "d -> d"},
    {"model.layers.{}.self_attn.q_norm.weight", "{layer}/self_attention/layer_norm_q/scale", "h -> h"},
    {"model.layers.{}.self_attn.k_norm.weight", "{layer}/self_attention/layer_norm_k/scale", "h -> h"},
    {"model.layers.{}.mlp.gate_proj.weight", "{layer}/ff_layer/ffn_layer1_gate/linear/w", "f d -> d f"},
    {"model.layers.{}.mlp.gate_proj.bias", "{layer}/ff_layer/ffn_layer1_gate/bias/b", "f -> f"},
    {"model.layers.{}.mlp.up_proj.weight", "{layer}/ff_layer/ffn_layer1/linear/w", "f d -> d f"},
    {"model.layers.{}.mlp.up_proj.bias", "{layer}/ff_layer/ffn_layer1/bias/b", "f -> f"},
    {"model.layers.{}.mlp.down_proj.weight", "{layer}/ff_layer/ffn_layer2/linear/w", "d f -> f d"},
    {"model.layers.{}.mlp.down_proj.bias", "{layer}/ff_layer/ffn_layer2/bias/b", "d -> d"},
    // Experts (Mixtral).
    {"model.layers.{}.block_sparse_moe.gate.weight", "{layer}/ff_layer/gate", "e d -> d e"},
    {"model.layers.{}.block_sparse_moe.experts.{e}.w1.weight", "{layer}/ff_layer/wi_gate_0", "f d -> d f"},
    {"model.layers.{}.block_sparse_moe.experts.{e}.w3.weight", "{layer}/ff_layer/wi_0", "f d -> d f"},
    {"model.layers.{}.block_sparse_moe.experts.{e}.w2.weight", "{layer}/ff_layer/wo_0", "d f -> f d"},
};

/// Gemma 2 normalises what goes into and what comes out of each half of a layer.
constexpr TableRow kGemma2Table[] = {
    {"model.embed_tokens.weight", "params/lm/embedding_lookup/emb_var", "v d -> v d"},
    {"model.embed_tokens.weight", "params/lm/softmax/w", "v d -> v d"},
    {"lm_head.weight", "params/lm/softmax/logits_ffn/linear/w", "v d -> d v"},
    {"model.norm.weight", "params/lm/final_ln/scale", "d -> d"},
    {"model.layers.{}.input_layernorm.weight", "{layer}/pre_layer_norm/scale", "d -> d"},
    {"model.layers.{}.post_attention_layernorm.weight", "{layer}/post_layer_norm/scale", "d -> d"},
    {"model.layers.{}.pre_feedforward_layernorm.weight", "{layer}/ff_layer/pre_layer_norm/scale", "d -> d"},
    {"model.layers.{}.post_feedforward_layernorm.weight", "{layer}/ff_layer/post_layer_norm/scale", "d -> d"},
    {"model.layers.{}.self_attn.q_proj.weight", "{layer}/self_attention/query/w", "(n h) d -> d n h"},
    {"model.layers.{}.self_attn.q_proj.bias", "{layer}/self_attention/query/b", "(n h) -> n h"},
    {"model.layers.{}.self_attn.k_proj.weight", "{layer}/self_attention/key/w", "(k h) d -> d k h"},
    {"model.layers.{}.self_attn.k_proj.bias", "{layer}/self_attention/key/b", "(k h) -> k h"},
    {"model.layers.{}.self_attn.v_proj.weight", "{layer}/self_attention/value/w", "(k h) d -> d k h"},
    {"model.layers.{}.self_attn.v_proj.bias", "{layer}/self_attention/value/b", "(k h) -> k h"},
    {"model.layers.{}.self_attn.o_proj.weight", "{layer}/self_attention/post/w", "d (n h) -> d n h"},
    {"model.layers.{}.self_attn.o_proj.bias", "{layer}/self_attention/post/b", "d -> d"},
    {"model.layers.{}.mlp.gate_proj.weight", "{layer}/ff_layer/ffn_layer1_gate/linear/w", "f d -> d f"},
    {"model.layers.{}.mlp.up_proj.weight", "{layer}/ff_layer/ffn_layer1/linear/w", "f d -> d f"},
    {"model.layers.{}.mlp.down_proj.weight", "{layer}/ff_layer/ffn_layer2/linear/w", "d f -> f d"},
};

/// Phi-3 keeps queries, keys and values in one tensor, as well as the two halves of the feed-forward layer.
constexpr TableRow kPhi3Table[] = {
    {"model.embed_tokens.weight", "params/lm/embedding_lookup/emb_var", "v d -> v d"},
    {"model.embed_tokens.weight", "params/lm/softmax/w", "v d -> v d"},
    {"lm_head.weight", "params/lm/softmax/logits_ffn/linear/w", "v d -> d v"},
    {"model.norm.weight", "params/lm/final_ln/scale", "d -> d"},
    {"model.layers.{}.input_layernorm.weight", "{layer}/layer_norm/scale", "d -> d"},
    {"model.layers.{}.post_attention_layernorm.weight", "{layer}/ff_layer/layer_norm/scale", "d -> d"},
    {"model.layers.{}.self_attn.qkv_proj.weight", "{layer}/self_attention/query/w", "(n h) d -> d n h", 0},
    {"model.layers.{}.self_attn.qkv_proj.weight", "{layer}/self_attention/key/w", "(k h) d -> d k h", 0},
    {"model.layers.{}.self_attn.qkv_proj.weight", "{layer}/self_attention/value/w", "(k h) d -> d k h", 0},
    {"model.layers.{}.self_attn.o_proj.weight", "{layer}/self_attention/post/w", "d (n h) -> d n h"},
    {"model.layers.{}.mlp.gate_up_proj.weight", "{layer}/ff_layer/ffn_layer1_gate/linear/w", "f d -> d f", 0},
    {"model.layers.{}.mlp.gate_up_proj.weight", "{layer}/ff_layer/ffn_layer1/linear/w", "f d -> d f", 0},
    {"model.layers.{}.mlp.down_proj.weight", "{layer}/ff_layer/ffn_layer2/linear/w", "d f -> f d"},
};

/// What a family says where the config is silent.
struct Defaults {
  int64_t vocab, dims, hidden, layers, heads;
  std::optional<int64_t> kv_heads{};  ///< absent: as many as heads
  std::optional<int64_t> head_dim{};  ///< absent: dims / heads
  double epsilon = 1e-6;
  bool tied = false;
  std::string_view activation_key = "hidden_act", activation = "silu";
};

DecoderSpec spec_of(const HfConfig& c, const Defaults& defaults, const PlanOptions& options) {
  DecoderSpec spec;
  spec.vocab = c.size("vocab_size", defaults.vocab);
  spec.dims = c.size("hidden_size", defaults.dims);
  spec.hidden = c.size("intermediate_size", defaults.hidden);
  spec.layers = c.size("num_hidden_layers", defaults.layers);
  spec.heads = c.size("num_attention_heads", defaults.heads);
  // A null means as many as heads, an absent key the family's number.
  spec.kv_heads =
      c.has("num_key_value_heads") ? c.size("num_key_value_heads", spec.heads) : defaults.kv_heads.value_or(spec.heads);
  if (spec.heads % spec.kv_heads != 0) {
    c.fail("num_key_value_heads", fmt::format("{} does not divide num_attention_heads {}", spec.kv_heads, spec.heads));
  }
  const int64_t head_dim = c.has("head_dim") || !defaults.head_dim ? spec.dims / spec.heads : *defaults.head_dim;
  spec.head_dim = c.size("head_dim", head_dim);
  const double epsilon = c.real("rms_norm_eps", defaults.epsilon);
  spec.norm = rms_norm(epsilon);
  spec.final_norm = rms_norm(epsilon);
  spec.activation = activation(c, defaults.activation_key, c.text(defaults.activation_key, defaults.activation));
  spec.gated = true;
  spec.tied = is_tied(c, options, defaults.tied);
  spec.attention_dropout = c.real("attention_dropout", 0);
  return spec;
}

/// Sliding windows by `layer_types`, where the config has them.
void set_windows(DecoderSpec& spec, const HfConfig& c, std::optional<int64_t> window, auto&& slides) {
  const std::vector<std::string> types = c.texts("layer_types");
  if (!types.empty() && types.size() != static_cast<size_t>(spec.layers)) {
    c.fail("layer_types", fmt::format("has {} entries for {} layers", types.size(), spec.layers));
  }
  for (int64_t i = 0; i < spec.layers; ++i) {
    bool sliding = slides(i);
    if (!types.empty()) {
      const std::string& type = types[static_cast<size_t>(i)];
      sliding = type == "sliding_attention";
      if (!sliding && type != "full_attention") c.fail("layer_types", fmt::format("\"{}\" is not supported", type));
    }
    spec.windows.push_back(sliding ? window : std::nullopt);
  }
}

ModelPlan finish(const DecoderSpec& spec, const PlanOptions& options, std::span<const TableRow> table) {
  ModelPlan plan = decoder_plan(spec, options);
  plan.table = rows_of({table});
  plan.prefix = "model.";
  plan.ignored = {".rotary_emb.inv_freq"};
  if (spec.tied) plan.ignored.push_back("lm_head.weight");
  return plan;
}

}  // namespace

ModelPlan llama_plan(const HfConfig& c, const PlanOptions& options) {
  DecoderSpec spec = spec_of(c, {.vocab = 32000, .dims = 4096, .hidden = 11008, .layers = 32, .heads = 32}, options);
  spec.rope = rope_of(c, spec.head_dim, {.max_positions = 2048});
  spec.qkv_bias = spec.post_bias = c.flag("attention_bias", false);
  spec.mlp_bias = c.flag("mlp_bias", false);
  return finish(spec, options, kTable);
}

ModelPlan mistral_plan(const HfConfig& c, const PlanOptions& options) {
  DecoderSpec spec =
      spec_of(c, {.vocab = 32000, .dims = 4096, .hidden = 14336, .layers = 32, .heads = 32, .kv_heads = 8}, options);
  spec.rope = rope_of(c, spec.head_dim, {.max_positions = 131072});
  const auto window = c.has("sliding_window") ? c.optional_size("sliding_window") : std::optional<int64_t>(4096);
  spec.windows.assign(static_cast<size_t>(spec.layers), window);
  return finish(spec, options, kTable);
}

ModelPlan mixtral_plan(const HfConfig& c, const PlanOptions& options) {
  DecoderSpec spec = spec_of(
      c, {.vocab = 32000, .dims = 4096, .hidden = 14336, .layers = 32, .heads = 32, .kv_heads = 8, .epsilon = 1e-5},
      options);
  spec.rope = rope_of(c, spec.head_dim, {.theta = 1e6, .max_positions = 131072});
  spec.windows.assign(static_cast<size_t>(spec.layers), c.optional_size("sliding_window"));
  spec.experts = c.size("num_local_experts", 8);
  spec.experts_per_token = c.size("num_experts_per_tok", 2);
  if (spec.experts_per_token > spec.experts) c.fail("num_experts_per_tok", "is more than num_local_experts");
  if (c.flag("output_router_logits", false)) spec.router_loss_weight = c.real("router_aux_loss_coef", 0.001);
  return finish(spec, options, kTable);
}

namespace {

/// The two Gemmas: norms that multiply by 1 + weight, scaled embeddings.
DecoderSpec gemma_spec(const HfConfig& c, const Defaults& defaults, const PlanOptions& options) {
  DecoderSpec spec = spec_of(c, defaults, options);
  const double epsilon = c.real("rms_norm_eps", 1e-6);
  spec.norm = rms_norm_plus_one(epsilon);
  spec.final_norm = rms_norm_plus_one(epsilon);
  spec.rope = rope_of(c, spec.head_dim, {.max_positions = 8192});
  spec.qkv_bias = spec.post_bias = c.flag("attention_bias", false);
  spec.scale_embedding = true;
  spec.bidirectional = c.flag("use_bidirectional_attention", false);
  return spec;
}

}  // namespace

ModelPlan gemma_plan(const HfConfig& c, const PlanOptions& options) {
  DecoderSpec spec = gemma_spec(c,
                                {.vocab = 256000,
                                 .dims = 3072,
                                 .hidden = 24576,
                                 .layers = 28,
                                 .heads = 16,
                                 .kv_heads = 16,
                                 .head_dim = 256,
                                 .tied = true,
                                 .activation = "gelu_pytorch_tanh"},
                                options);
  // "gelu" in these files has always meant the approximation.
  if (c.text("hidden_act", "") == "gelu") spec.activation = activation(c, "hidden_act", "gelu_pytorch_tanh");
  return finish(spec, options, kTable);
}

ModelPlan gemma2_plan(const HfConfig& c, const PlanOptions& options) {
  DecoderSpec spec = gemma_spec(c,
                                {.vocab = 256000,
                                 .dims = 2304,
                                 .hidden = 9216,
                                 .layers = 26,
                                 .heads = 8,
                                 .kv_heads = 4,
                                 .head_dim = 256,
                                 .tied = true,
                                 .activation_key = "hidden_activation",
                                 .activation = "gelu_pytorch_tanh"},
                                options);
  spec.norm_policy = NormPolicy::kPrimerHybrid;
  spec.query_scale = 1.0 / std::sqrt(c.real("query_pre_attn_scalar", 256));
  const auto cap = [&](std::string_view key, double otherwise) { return c.has(key) ? c.real(key, 0) : otherwise; };
  spec.attention_cap = cap("attn_logit_softcapping", 50);
  spec.logit_cap = cap("final_logit_softcapping", 30);
  const auto window = c.has("sliding_window") ? c.optional_size("sliding_window") : std::optional<int64_t>(4096);
  set_windows(spec, c, window, [](int64_t i) { return i % 2 == 0; });
  return finish(spec, options, kGemma2Table);
}

namespace {

DecoderSpec qwen_spec(const HfConfig& c, Defaults defaults, const PlanOptions& options) {
  DecoderSpec spec = spec_of(c, defaults, options);
  spec.rope = rope_of(c, spec.head_dim, {.max_positions = 32768});
  std::optional<int64_t> window = c.has("sliding_window") ? c.optional_size("sliding_window") : 4096;
  if (!c.flag("use_sliding_window", false)) window.reset();
  const int64_t first = c.has("max_window_layers") ? static_cast<int64_t>(c.real("max_window_layers", 28)) : 28;
  set_windows(spec, c, window, [first](int64_t i) { return i >= first; });
  return spec;
}

}  // namespace

ModelPlan qwen2_plan(const HfConfig& c, const PlanOptions& options) {
  DecoderSpec spec = qwen_spec(
      c, {.vocab = 151936, .dims = 4096, .hidden = 22016, .layers = 32, .heads = 32, .kv_heads = 32}, options);
  spec.qkv_bias = true;
  return finish(spec, options, kTable);
}

ModelPlan qwen3_plan(const HfConfig& c, const PlanOptions& options) {
  DecoderSpec spec = qwen_spec(
      c, {.vocab = 151936, .dims = 4096, .hidden = 22016, .layers = 32, .heads = 32, .kv_heads = 32, .head_dim = 128},
      options);
  spec.qkv_bias = spec.post_bias = c.flag("attention_bias", false);
  spec.qk_norm = true;
  return finish(spec, options, kTable);
}

ModelPlan phi3_plan(const HfConfig& c, const PlanOptions& options) {
  DecoderSpec spec =
      spec_of(c, {.vocab = 32064, .dims = 3072, .hidden = 8192, .layers = 32, .heads = 32, .epsilon = 1e-5}, options);
  spec.rope = rope_of(c, spec.head_dim, {.max_positions = 4096, .original_max_positions = 4096});
  spec.windows.assign(static_cast<size_t>(spec.layers), c.optional_size("sliding_window"));
  spec.residual_dropout = c.real("resid_pdrop", 0);
  return finish(spec, options, kPhi3Table);
}

}  // namespace pax::hf
