// GPT-2 and GPT-NeoX: layer norms with biases, one tensor for queries, keys and values.

#include <cmath>

#include "pax/interop/huggingface/decoder.h"
#include "pax/interop/huggingface/rope.h"

namespace pax::hf {
namespace {

/// GPT-2's matrices are [in, out].
constexpr TableRow kGpt2Table[] = {
    {"transformer.wte.weight", "params/lm/embedding_lookup/emb_var", "v d -> v d"},
    {"transformer.wte.weight", "params/lm/softmax/w", "v d -> v d"},
    {"lm_head.weight", "params/lm/softmax/logits_ffn/linear/w", "v d -> d v"},
    {"transformer.wpe.weight", "params/lm/position_emb/emb_var", "t d -> t d"},
    {"transformer.ln_f.weight", "params/lm/final_ln/scale", "d -> d"},
    {"transformer.ln_f.bias", "params/lm/final_ln/bias", "d -> d"},
    {"transformer.h.{}.ln_1.weight", "{layer}/layer_norm/scale", "d -> d"},
    {"transformer.h.{}.ln_1.bias", "{layer}/layer_norm/bias", "d -> d"},
    {"transformer.h.{}.attn.c_attn.weight", "{layer}/self_attention/query/w", "d (n h) -> d n h", 1},
    {"transformer.h.{}.attn.c_attn.weight", "{layer}/self_attention/key/w", "d (n h) -> d n h", 1},
    {"transformer.h.{}.attn.c_attn.weight", "{layer}/self_attention/value/w", "d (n h) -> d n h", 1},
    {"transformer.h.{}.attn.c_attn.bias", "{layer}/self_attention/query/b", "(n h) -> n h", 0},
    {"transformer.h.{}.attn.c_attn.bias", "{layer}/self_attention/key/b", "(n h) -> n h", 0},
    {"transformer.h.{}.attn.c_attn.bias", "{layer}/self_attention/value/b", "(n h) -> n h", 0},
    {"transformer.h.{}.attn.c_proj.weight", "{layer}/self_attention/post/w", "(n h) d -> d n h"},
    {"transformer.h.{}.attn.c_proj.bias", "{layer}/self_attention/post/b", "d -> d"},
    {"transformer.h.{}.ln_2.weight", "{layer}/ff_layer/layer_norm/scale", "d -> d"},
    {"transformer.h.{}.ln_2.bias", "{layer}/ff_layer/layer_norm/bias", "d -> d"},
    {"transformer.h.{}.mlp.c_fc.weight", "{layer}/ff_layer/ffn_layer1/linear/w", "d f -> d f"},
    {"transformer.h.{}.mlp.c_fc.bias", "{layer}/ff_layer/ffn_layer1/bias/b", "f -> f"},
    {"transformer.h.{}.mlp.c_proj.weight", "{layer}/ff_layer/ffn_layer2/linear/w", "f d -> f d"},
    {"transformer.h.{}.mlp.c_proj.bias", "{layer}/ff_layer/ffn_layer2/bias/b", "d -> d"},
};

/// GPT-NeoX interlaces queries, keys and values head by head (c counts the three).
constexpr TableRow kGptNeoxTable[] = {
    {"gpt_neox.embed_in.weight", "params/lm/embedding_lookup/emb_var", "v d -> v d"},
    {"gpt_neox.embed_in.weight", "params/lm/softmax/w", "v d -> v d"},
    {"embed_out.weight", "params/lm/softmax/logits_ffn/linear/w", "v d -> d v"},
    {"gpt_neox.final_layer_norm.weight", "params/lm/final_ln/scale", "d -> d"},
    {"gpt_neox.final_layer_norm.bias", "params/lm/final_ln/bias", "d -> d"},
    {"gpt_neox.layers.{}.input_layernorm.weight", "{layer}/layer_norm/scale", "d -> d"},
    {"gpt_neox.layers.{}.input_layernorm.bias", "{layer}/layer_norm/bias", "d -> d"},
    {"gpt_neox.layers.{}.post_attention_layernorm.weight", "{layer}/ff_layer/layer_norm/scale", "d -> d"},
    {"gpt_neox.layers.{}.post_attention_layernorm.bias", "{layer}/ff_layer/layer_norm/bias", "d -> d"},
    {"gpt_neox.layers.{}.attention.query_key_value.weight", "{layer}/self_attention/query/w", "(n c h) d -> c d n h",
     -1, 0},
    {"gpt_neox.layers.{}.attention.query_key_value.weight", "{layer}/self_attention/key/w", "(n c h) d -> c d n h", -1,
     1},
    {"gpt_neox.layers.{}.attention.query_key_value.weight", "{layer}/self_attention/value/w", "(n c h) d -> c d n h",
     -1, 2},
    {"gpt_neox.layers.{}.attention.query_key_value.bias", "{layer}/self_attention/query/b", "(n c h) -> c n h", -1, 0},
    {"gpt_neox.layers.{}.attention.query_key_value.bias", "{layer}/self_attention/key/b", "(n c h) -> c n h", -1, 1},
    {"gpt_neox.layers.{}.attention.query_key_value.bias", "{layer}/self_attention/value/b", "(n c h) -> c n h", -1, 2},
    {"gpt_neox.layers.{}.attention.dense.weight", "{layer}/self_attention/post/w", "d (n h) -> d n h"},
    {"gpt_neox.layers.{}.attention.dense.bias", "{layer}/self_attention/post/b", "d -> d"},
    {"gpt_neox.layers.{}.mlp.dense_h_to_4h.weight", "{layer}/ff_layer/ffn_layer1/linear/w", "f d -> d f"},
    {"gpt_neox.layers.{}.mlp.dense_h_to_4h.bias", "{layer}/ff_layer/ffn_layer1/bias/b", "f -> f"},
    {"gpt_neox.layers.{}.mlp.dense_4h_to_h.weight", "{layer}/ff_layer/ffn_layer2/linear/w", "d f -> f d"},
    {"gpt_neox.layers.{}.mlp.dense_4h_to_h.bias", "{layer}/ff_layer/ffn_layer2/bias/b", "d -> d"},
};

void require_heads(const HfConfig& c, std::string_view key, int64_t dims, int64_t heads) {
  if (dims % heads != 0) c.fail(key, "does not divide the width of the model");
}

}  // namespace

ModelPlan gpt2_plan(const HfConfig& c, const PlanOptions& options) {
  DecoderSpec spec;
  spec.vocab = c.size("vocab_size", 50257);
  spec.dims = c.size("n_embd", 768);
  spec.layers = c.size("n_layer", 12);
  spec.heads = spec.kv_heads = c.size("n_head", 12);
  require_heads(c, "n_head", spec.dims, spec.heads);
  spec.head_dim = spec.dims / spec.heads;
  spec.hidden = c.size("n_inner", 4 * spec.dims);
  const double epsilon = c.real("layer_norm_epsilon", 1e-5);
  spec.norm = layer_norm(epsilon);
  spec.final_norm = layer_norm(epsilon);
  spec.qkv_bias = spec.post_bias = spec.mlp_bias = true;
  if (!c.flag("scale_attn_weights", true)) spec.query_scale = 1;
  spec.scale_by_layer = c.flag("scale_attn_by_inverse_layer_idx", false);
  if (c.flag("add_cross_attention", false)) c.fail("add_cross_attention", "is not supported");
  spec.activation = activation(c, "activation_function", c.text("activation_function", "gelu_new"));
  TrainablePositionalEmbedding::Config positions;
  positions.max_seq_length = c.size("n_positions", 1024);
  positions.lookup_style = LookupStyle::kIndex;
  spec.positions = positions;
  spec.tied = is_tied(c, options, true);
  spec.attention_dropout = c.real("attn_pdrop", 0.1);
  spec.residual_dropout = c.real("resid_pdrop", 0.1);
  ModelPlan plan = decoder_plan(spec, options);
  plan.table = rows_of({kGpt2Table});
  plan.prefix = "transformer.";
  plan.ignored = {".attn.bias", ".attn.masked_bias"};
  if (spec.tied) plan.ignored.push_back("lm_head.weight");
  return plan;
}

ModelPlan gpt_neox_plan(const HfConfig& c, const PlanOptions& options) {
  DecoderSpec spec;
  spec.vocab = c.size("vocab_size", 50432);
  spec.dims = c.size("hidden_size", 6144);
  spec.layers = c.size("num_hidden_layers", 44);
  spec.heads = spec.kv_heads = c.size("num_attention_heads", 64);
  require_heads(c, "num_attention_heads", spec.dims, spec.heads);
  spec.head_dim = spec.dims / spec.heads;
  spec.hidden = c.size("intermediate_size", 24576);
  const double epsilon = c.real("layer_norm_eps", 1e-5);
  spec.norm = layer_norm(epsilon);
  spec.final_norm = layer_norm(epsilon);
  spec.qkv_bias = spec.post_bias = c.flag("attention_bias", true);
  spec.mlp_bias = true;
  spec.parallel = c.flag("use_parallel_residual", true);
  spec.activation = activation(c, "hidden_act", c.text("hidden_act", "gelu"));
  spec.rope = rope_of(c, spec.head_dim, {.partial = 0.25, .theta_key = "rotary_emb_base", .partial_key = "rotary_pct"});
  spec.tied = is_tied(c, options, false);
  spec.attention_dropout = c.real("attention_dropout", 0);
  spec.residual_dropout = c.real("hidden_dropout", 0);
  ModelPlan plan = decoder_plan(spec, options);
  plan.table = rows_of({kGptNeoxTable});
  plan.prefix = "gpt_neox.";
  plan.sizes['c'] = 3;
  plan.ignored = {".attention.bias", ".attention.masked_bias", ".rotary_emb.inv_freq"};
  if (spec.tied) plan.ignored.push_back("embed_out.weight");
  return plan;
}

}  // namespace pax::hf
