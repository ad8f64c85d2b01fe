#include "pax/interop/huggingface/decoder.h"
#include "pax/interop/huggingface/encoder.h"
#include "pax/layers/embedding.h"
#include "pax/layers/masked_lm_head.h"
#include "pax/task/models/bert_model.h"

namespace pax::hf {
namespace {

constexpr TableRow kTable[] = {
    {"bert.embeddings.word_embeddings.weight", "params/lm/embedding_lookup/emb_var", "v d -> v d"},
    {"bert.embeddings.word_embeddings.weight", "params/lm/softmax/w", "v d -> v d"},
    {"bert.embeddings.position_embeddings.weight", "params/lm/position_emb/emb_var", "t d -> t d"},
    {"bert.embeddings.token_type_embeddings.weight", "params/lm/token_type_embedding/emb_var", "t d -> t d"},
    {"bert.embeddings.LayerNorm.weight", "params/lm/embedding_ln/scale", "d -> d"},
    {"bert.embeddings.LayerNorm.bias", "params/lm/embedding_ln/bias", "d -> d"},
    {"bert.encoder.layer.{}.attention.self.query.weight", "{layer}/self_attention/query/w", "(n h) d -> d n h"},
    {"bert.encoder.layer.{}.attention.self.query.bias", "{layer}/self_attention/query/b", "(n h) -> n h"},
    {"bert.encoder.layer.{}.attention.self.key.weight", "{layer}/self_attention/key/w", "(n h) d -> d n h"},
    {"bert.encoder.layer.{}.attention.self.key.bias", "{layer}/self_attention/key/b", "(n h) -> n h"},
    {"bert.encoder.layer.{}.attention.self.value.weight", "{layer}/self_attention/value/w", "(n h) d -> d n h"},
    {"bert.encoder.layer.{}.attention.self.value.bias", "{layer}/self_attention/value/b", "(n h) -> n h"},
    {"bert.encoder.layer.{}.attention.output.dense.weight", "{layer}/self_attention/post/w", "d (n h) -> d n h"},
    {"bert.encoder.layer.{}.attention.output.dense.bias", "{layer}/self_attention/post/b", "d -> d"},
    {"bert.encoder.layer.{}.attention.output.LayerNorm.weight", "{layer}/layer_norm/scale", "d -> d"},
    {"bert.encoder.layer.{}.attention.output.LayerNorm.bias", "{layer}/layer_norm/bias", "d -> d"},
    {"bert.encoder.layer.{}.intermediate.dense.weight", "{layer}/ff_layer/ffn_layer1/linear/w", "f d -> d f"},
    {"bert.encoder.layer.{}.intermediate.dense.bias", "{layer}/ff_layer/ffn_layer1/bias/b", "f -> f"},
    {"bert.encoder.layer.{}.output.dense.weight", "{layer}/ff_layer/ffn_layer2/linear/w", "d f -> f d"},
    {"bert.encoder.layer.{}.output.dense.bias", "{layer}/ff_layer/ffn_layer2/bias/b", "d -> d"},
    {"bert.encoder.layer.{}.output.LayerNorm.weight", "{layer}/ff_layer/layer_norm/scale", "d -> d"},
    {"bert.encoder.layer.{}.output.LayerNorm.bias", "{layer}/ff_layer/layer_norm/bias", "d -> d"},
    {"cls.predictions.transform.dense.weight", "params/lm/final_ln/dense/linear/w", "o d -> d o"},
    {"cls.predictions.transform.dense.bias", "params/lm/final_ln/dense/bias/b", "d -> d"},
    {"cls.predictions.transform.LayerNorm.weight", "params/lm/final_ln/ln/scale", "d -> d"},
    {"cls.predictions.transform.LayerNorm.bias", "params/lm/final_ln/ln/bias", "d -> d"},
    {"cls.predictions.bias", "params/lm/softmax/bias/b", "v -> v"},
    {"cls.predictions.bias", "params/lm/softmax/logits_ffn/bias/b", "v -> v"},
    {"cls.predictions.decoder.weight", "params/lm/softmax/logits_ffn/linear/w", "v d -> d v"},
};

}  // namespace

ModelPlan bert_plan(const HfConfig& c, const PlanOptions& options) {
  DecoderSpec spec;
  spec.vocab = c.size("vocab_size", 30522);
  spec.dims = c.size("hidden_size", 768);
  spec.layers = c.size("num_hidden_layers", 12);
  spec.heads = spec.kv_heads = c.size("num_attention_heads", 12);
  if (spec.dims % spec.heads != 0) c.fail("num_attention_heads", "does not divide hidden_size");
  if (c.text("position_embedding_type", "absolute") != "absolute") {
    c.fail("position_embedding_type", "only absolute is supported");
  }
  if (c.flag("is_decoder", false)) c.fail("is_decoder", "a BERT that decodes is not supported");
  spec.head_dim = spec.dims / spec.heads;
  spec.hidden = c.size("intermediate_size", 3072);
  const double epsilon = c.real("layer_norm_eps", 1e-12);
  spec.norm = layer_norm(epsilon);
  spec.norm_policy = NormPolicy::kPostSkip;
  spec.embedding_norm = layer_norm(epsilon);
  spec.qkv_bias = spec.post_bias = spec.mlp_bias = true;
  spec.activation = activation(c, "hidden_act", c.text("hidden_act", "gelu"));
  TrainablePositionalEmbedding::Config positions;
  positions.max_seq_length = c.size("max_position_embeddings", 512);
  positions.lookup_style = LookupStyle::kIndex;
  spec.positions = positions;
  Embedding::Config types;
  types.num_classes = c.size("type_vocab_size", 2);
  spec.token_types = types;
  spec.bidirectional = true;
  spec.attention_dropout = c.real("attention_probs_dropout_prob", 0.1);
  spec.residual_dropout = c.real("hidden_dropout_prob", 0.1);
  spec.tied = is_tied(c, options, true);
  // The bare model has no head; its embedding gives the scores.
  if (c.architecture() != "BertModel") {
    MaskedLmHead::Config head;
    head.activation_tpl = spec.activation.clone();
    head.ln_tpl = layer_norm(epsilon);
    spec.final_norm = head;
    spec.head_bias = true;
  }
  ModelPlan plan = decoder_plan(spec, options);
  BertModel::Config model;
  model.lm_tpl = plan.model.get<Tpl<LanguageModelLayer>>("lm_tpl");
  model.lm_tpl.set("model_type", LanguageModelType::kBidirectional);
  model.lm_tpl.set("packed_input", true);
  model.mask_token_id = spec.vocab > 103 ? 103 : 0;  // [MASK] of the released vocabularies
  plan.model = model;
  plan.table = rows_of({kTable});
  plan.prefix = "bert.";
  plan.ignored = {"position_ids", "cls.predictions.decoder.bias"};
  if (spec.tied) plan.ignored.push_back("cls.predictions.decoder.weight");
  return plan;
}

}  // namespace pax::hf
