#include "pax/layers/vision/vit.h"

#include "pax/interop/huggingface/decoder.h"
#include "pax/interop/huggingface/encoder.h"
#include "pax/task/models/classification_model.h"

namespace pax::hf {
namespace {

/// p and q count the rows and columns of a patch.
constexpr TableRow kTable[] = {
    {"vit.embeddings.cls_token", "params/network/entry_stack/prepend_cls_embs", "a t d -> a t d"},
    {"vit.embeddings.position_embeddings", "params/network/entry_stack/pos_emb/emb_var", "a t d -> (a t) d"},
    {"vit.embeddings.patch_embeddings.projection.weight", "params/network/entry_stack/patch_projection/linear/w",
     "d c p q -> (p q c) d"},
    {"vit.embeddings.patch_embeddings.projection.bias", "params/network/entry_stack/patch_projection/bias/b", "d -> d"},
    {"vit.encoder.layer.{}.layernorm_before.weight", "{layer}/layer_norm/scale", "d -> d"},
    {"vit.encoder.layer.{}.layernorm_before.bias", "{layer}/layer_norm/bias", "d -> d"},
    {"vit.encoder.layer.{}.attention.attention.query.weight", "{layer}/self_attention/query/w", "(n h) d -> d n h"},
    {"vit.encoder.layer.{}.attention.attention.query.bias", "{layer}/self_attention/query/b", "(n h) -> n h"},
    {"vit.encoder.layer.{}.attention.attention.key.weight", "{layer}/self_attention/key/w", "(n h) d -> d n h"},
    {"vit.encoder.layer.{}.attention.attention.key.bias", "{layer}/self_attention/key/b", "(n h) -> n h"},
    {"vit.encoder.layer.{}.attention.attention.value.weight", "{layer}/self_attention/value/w", "(n h) d -> d n h"},
    {"vit.encoder.layer.{}.attention.attention.value.bias", "{layer}/self_attention/value/b", "(n h) -> n h"},
    {"vit.encoder.layer.{}.attention.output.dense.weight", "{layer}/self_attention/post/w", "d (n h) -> d n h"},
    {"vit.encoder.layer.{}.attention.output.dense.bias", "{layer}/self_attention/post/b", "d -> d"},
    {"vit.encoder.layer.{}.layernorm_after.weight", "{layer}/ff_layer/layer_norm/scale", "d -> d"},
    {"vit.encoder.layer.{}.layernorm_after.bias", "{layer}/ff_layer/layer_norm/bias", "d -> d"},
    {"vit.encoder.layer.{}.intermediate.dense.weight", "{layer}/ff_layer/ffn_layer1/linear/w", "f d -> d f"},
    {"vit.encoder.layer.{}.intermediate.dense.bias", "{layer}/ff_layer/ffn_layer1/bias/b", "f -> f"},
    {"vit.encoder.layer.{}.output.dense.weight", "{layer}/ff_layer/ffn_layer2/linear/w", "d f -> f d"},
    {"vit.encoder.layer.{}.output.dense.bias", "{layer}/ff_layer/ffn_layer2/bias/b", "d -> d"},
    {"vit.layernorm.weight", "params/network/exit_stack/ln/scale", "d -> d"},
    {"vit.layernorm.bias", "params/network/exit_stack/ln/bias", "d -> d"},
    {"classifier.weight", "params/softmax/logits_ffn/linear/w", "v d -> d v"},
    {"classifier.bias", "params/softmax/logits_ffn/bias/b", "v -> v"},
};

DecoderSpec spec_of(const HfConfig& c) {
  DecoderSpec spec;
  spec.dims = c.size("hidden_size", 768);
  spec.layers = c.size("num_hidden_layers", 12);
  spec.heads = spec.kv_heads = c.size("num_attention_heads", 12);
  if (spec.dims % spec.heads != 0) c.fail("num_attention_heads", "does not divide hidden_size");
  spec.head_dim = spec.dims / spec.heads;
  spec.hidden = c.size("intermediate_size", 3072);
  spec.norm = layer_norm(c.real("layer_norm_eps", 1e-12));
  spec.qkv_bias = c.flag("qkv_bias", true);
  spec.post_bias = spec.mlp_bias = true;
  spec.activation = activation(c, "hidden_act", c.text("hidden_act", "gelu"));
  spec.attention_dropout = c.real("attention_probs_dropout_prob", 0);
  spec.residual_dropout = c.real("hidden_dropout_prob", 0);
  return spec;
}

VitEntryLayers::Config entry_of(const HfConfig& c, const DecoderSpec& spec, int64_t patch) {
  const std::array<int64_t, 2> image = c.pair("image_size", 224);
  VitEntryLayers::Config entry;
  entry.patch_size = patch;
  entry.pos_emb_shapes = {image[0] / patch, image[1] / patch};
  entry.input_dims = patch * patch * c.size("num_channels", 3);
  entry.output_dims = spec.dims;
  entry.prepend_cls_tokens = 1;
  entry.pos_emb_on_cls_tokens = true;
  TrainablePositionalEmbedding::Config positions;
  positions.max_seq_length = 1 + entry.pos_emb_shapes[0] * entry.pos_emb_shapes[1];
  positions.embedding_dims = spec.dims;
  positions.lookup_style = LookupStyle::kIndex;
  entry.pos_emb_tpl = positions;
  return entry;
}

}  // namespace

ModelPlan vit_plan(const HfConfig& c, const PlanOptions& options) {
  const DecoderSpec spec = spec_of(c);
  const std::array<int64_t, 2> patch = c.pair("patch_size", 16);
  if (patch[0] != patch[1]) c.fail("patch_size", "patches must be square");
  const int64_t period = repeated_period(spec, options);

  VisionTransformer::Config network;
  network.entry_layers_tpl = entry_of(c, spec, patch[0]);
  network.transformer_layers_tpl = stack_of(spec, period);
  Tpl<TransformerStack> layers = network.transformer_layers_tpl;
  if (period != 0) layers = layers.get<Tpl<TransformerStack>>("block");
  layers.set("model_dims", spec.dims);
  VitExitLayers::Config exit;
  exit.hidden_dim = spec.dims;
  exit.output_fc_tanh = false;
  exit.pooling_tpl = FirstToken::Config{};
  LayerNorm::Config norm;
  norm.epsilon = c.real("layer_norm_eps", 1e-12);
  norm.direct_scale = true;
  exit.ln_tpl = norm;
  network.exit_layers_tpl = exit;

  ClassificationModel::Config model;
  model.network_tpl = network;
  FullSoftmax::Config softmax;
  softmax.input_dims = spec.dims;
  softmax.num_classes = c.count("id2label", c.size("num_labels", 2));
  model.softmax_tpl = softmax;

  ModelPlan plan;
  plan.model = model;
  plan.table = rows_of({kTable});
  plan.places["{layer}"] = {.stack = "params/network/transformers_stack", .layers = spec.layers, .period = period};
  plan.sizes = {{'n', spec.heads}, {'h', spec.head_dim},
                {'d', spec.dims},  {'f', spec.hidden},
                {'a', 1},          {'c', c.size("num_channels", 3)},
                {'p', patch[0]},   {'q', patch[1]}};
  plan.prefix = "vit.";
  return plan;
}

}  // namespace pax::hf
