#include "pax/experiments/lm/task_parts.h"

#include "pax/layers/softmax/gshard_softmax.h"
#include "pax/layers/split_dims.h"
#include "pax/layers/transformer_models/lm_sharding.h"
#include "pax/layers/transformer_models/transformer_lm.h"

namespace pax {
namespace {

Tpl<TransformerStack> inner(const Tpl<TransformerStack>& stack, const char* field) {
  return stack.has_field(field) ? stack.get<Tpl<TransformerStack>>(field) : stack;
}

/// Embedding and softmax run on all devices, each with its part of the batch; stages keep their weights.
void split_pipeline(Tpl<LanguageModelLayer>& lm, const LmSpmdConstants& c) {
  const Axes wide{c.batch_axes(), {}, {"mdl"}};
  auto softmax = lm.get<Tpl<Softmax>>("softmax_tpl");
  config::AnyTpl embedding = softmax;
  if (const auto separate = lm.get<Tpl<Layer>>("separate_embedding_tpl")) embedding = separate;
  set_activation_split(embedding, "emb_out_split_dims_mapping", wide);
  set_activation_split(embedding, "out", wide);
  const bool vocabulary_first = softmax.as<GShardSharedEmbeddingSoftmax::Config>() != nullptr;
  set_weight_split(softmax, "wt",
                   vocabulary_first ? Axes{{"mdl"}, c.EMB_W_DATA_DIMS} : Axes{c.EMB_W_DATA_DIMS, {"mdl"}});
  if (!embedding.same_node(softmax)) set_weight_split(embedding, "wt", {c.EMB_W_DATA_DIMS, {"mdl"}});
  auto stack = lm.get<Tpl<TransformerStack>>("stacked_transformer_tpl");
  set_weight_split(stack, "stages", {{"stage"}});
  set_activation_split(stack, "final_out", wide);
}

}  // namespace

Tpl<TransformerStack> block_of(SingleTask& task) {
  const auto stack = task.model.get<Tpl<TransformerStack>>("lm_tpl.stacked_transformer_tpl");
  return inner(inner(stack, "pipeline_stage"), "block");
}

Tpl<TransformerLayer> layer_of(SingleTask& task) {
  return std::get<0>(block_of(task).get<LayerTemplates>("transformer_layer_params_tpl"));
}

void split_over_mesh(SingleTask& task, const LmSpmdConstants& c) {
  if (c.ICI_MESH_SHAPE.empty()) return;
  for (const char* layer : {"", "lm_tpl.", "lm_tpl.softmax_tpl."}) {
    task.model.set(std::string(layer) + "mesh_axis_names", c.mesh_axis_names());
    task.model.set(std::string(layer) + "ici_mesh_shape", c.ICI_MESH_SHAPE);
    if (!c.DCN_MESH_SHAPE.empty()) task.model.set(std::string(layer) + "dcn_mesh_shape", c.DCN_MESH_SHAPE);
  }
  task.train.batch_split = c.batch_axes();
  auto lm = task.model.get<Tpl<LanguageModelLayer>>("lm_tpl");
  MeshAxes axes;
  if (c.USE_EXPERT_PARALLEL) axes.data_expert = "data_expert";
  const auto use = c.TRAINING_OPTIMIZED_SHARDING ? OptimizedFor::kTraining : OptimizedFor::kInference;
  set_sharding(lm, sharding_v1(axes, use));
  if (c.NUM_STAGES) split_pipeline(lm, c);
}

void configure_gpt3(SingleTask& task, const Gpt3Options& options) {
  Tpl<BaseModel>& model = task.model;
  const auto init = WeightInit::gaussian(0.006);
  model.set("params_init", init);
  model.set("decoder_tpl.eos_id", int64_t{1});
  model.set("decoder_tpl.seqlen", options.max_seq_len);
  model.set("lm_tpl.softmax_tpl.params_init", init);
  model.set("lm_tpl.softmax_tpl.feed_forward_tpl.has_bias", false);
  model.set("lm_tpl.softmax_tpl.soft_cap_logits", nullptr);
  const bool separate = static_cast<bool>(model.get<Tpl<Layer>>("lm_tpl.separate_embedding_tpl"));
  const std::string embedding = separate ? "lm_tpl.separate_embedding_tpl." : "lm_tpl.softmax_tpl.";
  model.set(embedding + "scale_sqrt_depth", false);
  model.set(embedding + "lookup_style", LookupStyle::kMatmul);
  model.try_set("lm_tpl.position_emb_tpl.lookup_style", LookupStyle::kMatmul);
  model.set("lm_tpl.final_ln_tpl.epsilon", options.layernorm_epsilon);
  Tpl<TransformerLayer> layer = layer_of(task);
  layer.set("ln_tpl.epsilon", options.layernorm_epsilon);
  layer.set("tr_fflayer_tpl.ln_tpl.epsilon", options.layernorm_epsilon);
  layer.set("tr_fflayer_tpl.activation_tpl.approximate", true);
  layer.set("tr_atten_tpl.internal_enable_per_dim_scale", false);
  layer.set("tr_atten_tpl.use_bias", true);
  auto attention = layer.get<Tpl<Attention>>("tr_atten_tpl");
  set_weight_split(attention, "proj", {{"data"}, {"mdl"}, {}});
}

void experts_like_feed_forward(Tpl<TransformerStack>& block) {
  const auto layer = std::get<0>(block.get<LayerTemplates>("transformer_layer_params_tpl"));
  const auto from = layer.get<Tpl<TransformerFfn>>("tr_fflayer_tpl");
  auto experts = block.get<Tpl<TransformerFfn>>("moe_layer_tpl");
  experts.set("input_dims", from.get<int64_t>("input_dims"));
  if (experts.get<int64_t>("hidden_dims") == 0) experts.set("hidden_dims", from.get<int64_t>("hidden_dims"));
  for (const char* field : {"ln_tpl", "activation_tpl", "relu_dropout_tpl", "residual_dropout_tpl"}) {
    experts.set(field, from.get<Tpl<Layer>>(field).clone());
  }
  experts.set("relu_dropout_prob", from.get<double>("relu_dropout_prob"));
  experts.set("residual_dropout_prob", from.get<double>("residual_dropout_prob"));
  experts.set("add_skip_connection", from.get<bool>("add_skip_connection"));
  experts.set("norm_policy", from.get<NormPolicy>("norm_policy"));
}

}  // namespace pax
