#include "pax/interop/huggingface/decoder.h"
#include "pax/interop/huggingface/encoder.h"
#include "pax/layers/attention/dot_product_attention.h"
#include "pax/layers/embedding.h"
#include "pax/layers/transformers/stacked_transformer.h"
#include "pax/task/models/sequence_model.h"

namespace pax::hf {
namespace {

/// The relative bias of the first layer serves all; it is a variable of the first.
constexpr TableRow kTable[] = {
    {"encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight",
     "params/model/encoder/x_layers_0/self_attention/relative_bias/wrb", "b n -> n b"},
    {"encoder.block.{}.layer.0.layer_norm.weight", "{encoder}/layer_norm/scale", "d -> d"},
    {"encoder.block.{}.layer.0.SelfAttention.q.weight", "{encoder}/self_attention/query/w", "(n h) d -> d n h"},
    {"encoder.block.{}.layer.0.SelfAttention.k.weight", "{encoder}/self_attention/key/w", "(n h) d -> d n h"},
    {"encoder.block.{}.layer.0.SelfAttention.v.weight", "{encoder}/self_attention/value/w", "(n h) d -> d n h"},
    {"encoder.block.{}.layer.0.SelfAttention.o.weight", "{encoder}/self_attention/post/w", "d (n h) -> d n h"},
    {"encoder.block.{}.layer.1.layer_norm.weight", "{encoder}/ff_layer/layer_norm/scale", "d -> d"},
    {"encoder.block.{}.layer.1.DenseReluDense.wo.weight", "{encoder}/ff_layer/ffn_layer2/linear/w", "d f -> f d"},
    {"encoder.final_layer_norm.weight", "params/model/encoder_ln/scale", "d -> d"},
    {"decoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight",
     "params/model/decoder/x_layers_0/self_attention/relative_bias/wrb", "b n -> n b"},
    {"decoder.block.{}.layer.0.layer_norm.weight", "{decoder}/layer_norm/scale", "d -> d"},
    {"decoder.block.{}.layer.0.SelfAttention.q.weight", "{decoder}/self_attention/query/w", "(n h) d -> d n h"},
    {"decoder.block.{}.layer.0.SelfAttention.k.weight", "{decoder}/self_attention/key/w", "(n h) d -> d n h"},
    {"decoder.block.{}.layer.0.SelfAttention.v.weight", "{decoder}/self_attention/value/w", "(n h) d -> d n h"},
    {"decoder.block.{}.layer.0.SelfAttention.o.weight", "{decoder}/self_attention/post/w", "d (n h) -> d n h"},
    {"decoder.block.{}.layer.1.layer_norm.weight", "{decoder}/cross_layer_norm/scale", "d -> d"},
    {"decoder.block.{}.layer.1.EncDecAttention.q.weight", "{decoder}/cross_attention/query/w", "(n h) d -> d n h"},
    {"decoder.block.{}.layer.1.EncDecAttention.k.weight", "{decoder}/cross_attention/key/w", "(n h) d -> d n h"},
    {"decoder.block.{}.layer.1.EncDecAttention.v.weight", "{decoder}/cross_attention/value/w", "(n h) d -> d n h"},
    {"decoder.block.{}.layer.1.EncDecAttention.o.weight", "{decoder}/cross_attention/post/w", "d (n h) -> d n h"},
    {"decoder.block.{}.layer.2.layer_norm.weight", "{decoder}/ff_layer/layer_norm/scale", "d -> d"},
    {"decoder.block.{}.layer.2.DenseReluDense.wo.weight", "{decoder}/ff_layer/ffn_layer2/linear/w", "d f -> f d"},
    {"decoder.final_layer_norm.weight", "params/model/decoder_ln/scale", "d -> d"},
};

constexpr TableRow kTied[] = {
    {"shared.weight", "params/model/softmax/logits_ffn/linear/w", "v d -> d v"},
};
constexpr TableRow kUntied[] = {
    {"shared.weight", "params/model/decoder_embedding_lookup/emb_var", "v d -> v d"},
    {"lm_head.weight", "params/model/softmax/logits_ffn/linear/w", "v d -> d v"},
};

constexpr TableRow kPlain[] = {
    {"encoder.block.{}.layer.1.DenseReluDense.wi.weight", "{encoder}/ff_layer/ffn_layer1/linear/w", "f d -> d f"},
    {"decoder.block.{}.layer.2.DenseReluDense.wi.weight", "{decoder}/ff_layer/ffn_layer1/linear/w", "f d -> d f"},
};
constexpr TableRow kGated[] = {
    {"encoder.block.{}.layer.1.DenseReluDense.wi_0.weight", "{encoder}/ff_layer/ffn_layer1_gate/linear/w",
     "f d -> d f"},
    {"encoder.block.{}.layer.1.DenseReluDense.wi_1.weight", "{encoder}/ff_layer/ffn_layer1/linear/w", "f d -> d f"},
    {"decoder.block.{}.layer.2.DenseReluDense.wi_0.weight", "{decoder}/ff_layer/ffn_layer1_gate/linear/w",
     "f d -> d f"},
    {"decoder.block.{}.layer.2.DenseReluDense.wi_1.weight", "{decoder}/ff_layer/ffn_layer1/linear/w", "f d -> d f"},
};

struct T5Spec {
  int64_t vocab, dims, hidden, heads, head_dim, buckets, max_distance;
  double epsilon, dropout;
  Tpl<Layer> activation;
  bool gated;
};

enum class Side : uint8_t { kEncoder, kDecoder };

/// Logits are not scaled: the initial weights are.
DotProductAttention::Config attention_of() {
  DotProductAttention::Config out;
  out.use_bias = false;
  out.internal_enable_query_scale = false;
  out.internal_enable_per_dim_scale = false;
  return out;
}

StackedTransformer::Config stack_of_side(const T5Spec& spec, Side side, int64_t layers) {
  RelativeBias::Config bias;
  bias.relative_attention_num_buckets = spec.buckets;
  bias.relative_attention_max_distance = spec.max_distance;
  bias.bidirectional = side == Side::kEncoder;
  const Tpl<RelativeBias> shared_bias = bias;
  std::vector<Tpl<TransformerLayer>> all;
  for (int64_t i = 0; i < layers; ++i) {
    DotProductAttention::Config self = attention_of();
    self.relative_bias_tpl = shared_bias;
    TransformerFeedForward::Config ffn;
    ffn.has_bias = false;
    ffn.use_gated_activation = spec.gated;
    ffn.activation_tpl = spec.activation.clone();
    ffn.ln_tpl = rms_norm(spec.epsilon);
    Transformer::Config layer;
    layer.ln_tpl = rms_norm(spec.epsilon);
    layer.tr_atten_tpl = self;
    layer.cross_atten_tpl = attention_of();
    layer.tr_fflayer_tpl = ffn;
    all.push_back(layer);
  }
  StackedTransformer::Config stack;
  stack.num_layers = layers;
  stack.hidden_dims = spec.hidden;
  stack.num_heads = spec.heads;
  stack.dim_per_head = spec.head_dim;
  stack.dropout_prob = spec.dropout;
  stack.transformer_layer_params_tpl = all;
  stack.use_cross_attention = stack.mask_self_attention = side == Side::kDecoder;
  return stack;
}

T5Spec spec_of(const HfConfig& c) {
  T5Spec spec{.vocab = c.size("vocab_size", 32128),
              .dims = c.size("d_model", 512),
              .hidden = c.size("d_ff", 2048),
              .heads = c.size("num_heads", 8),
              .head_dim = c.size("d_kv", 64),
              .buckets = c.size("relative_attention_num_buckets", 32),
              .max_distance = c.size("relative_attention_max_distance", 128),
              .epsilon = c.real("layer_norm_epsilon", 1e-6),
              .dropout = c.real("dropout_rate", 0.1),
              .activation = {},
              .gated = false};
  std::string name = c.text("feed_forward_proj", "relu");
  if (name.starts_with("gated-")) {
    spec.gated = true;
    name = name == "gated-gelu" ? "gelu_new" : name.substr(6);
  }
  spec.activation = activation(c, "feed_forward_proj", name);
  return spec;
}

}  // namespace

ModelPlan t5_plan(const HfConfig& c, const PlanOptions& options) {
  const T5Spec spec = spec_of(c);
  const int64_t encoder_layers = c.size("num_layers", 6);
  const int64_t decoder_layers = c.size("num_decoder_layers", encoder_layers);
  // Files of T5 v1.1 have an output layer of their own and do not scale what goes into it.
  const bool tied = !options.has_head;
  const bool scaled = c.flag("scale_decoder_outputs", c.flag("tie_word_embeddings", true));

  TransformerEncoderDecoder::Config model;
  model.model_dims = spec.dims;
  model.position_emb_tpl = nullptr;
  model.encoder_stacked_transformer_tpl = stack_of_side(spec, Side::kEncoder, encoder_layers);
  model.decoder_stacked_transformer_tpl = stack_of_side(spec, Side::kDecoder, decoder_layers);
  model.encoder_ln_tpl = rms_norm(spec.epsilon);
  model.decoder_ln_tpl = rms_norm(spec.epsilon);
  const auto set_softmax = [&](auto softmax) {
    softmax.num_classes = spec.vocab;
    softmax.scale_before_logits = scaled;
    softmax.feed_forward_tpl.set("has_bias", false);
    model.softmax_tpl = softmax;
  };
  if (tied) {
    set_softmax(SharedEmbeddingSoftmax::Config{});
  } else {
    set_softmax(FullSoftmax::Config{});
    Embedding::Config embedding;
    embedding.num_classes = spec.vocab;
    model.decoder_embedding_tpl = embedding;
  }
  SequenceModel::Config task_model;
  task_model.model_tpl = model;

  ModelPlan plan;
  plan.model = task_model;
  plan.table = rows_of({kTable, tied ? std::span<const TableRow>(kTied) : kUntied,
                        spec.gated ? std::span<const TableRow>(kGated) : kPlain});
  plan.places["{encoder}"] = {.stack = "params/model/encoder", .layers = encoder_layers};
  plan.places["{decoder}"] = {.stack = "params/model/decoder", .layers = decoder_layers};
  plan.sizes = {{'n', spec.heads}, {'h', spec.head_dim}, {'d', spec.dims}, {'f', spec.hidden}};
  plan.ignored = {"encoder.embed_tokens.weight", "decoder.embed_tokens.weight",
                  "EncDecAttention.relative_attention_bias.weight"};
  if (tied) plan.ignored.push_back("lm_head.weight");
  return plan;
}

}  // namespace pax::hf
