#include "pax/layers/transformer_models/lm_sharding.h"

#include "pax/layers/attention/grouped_query_attention.h"
#include "pax/layers/attention/multi_query_attention.h"
#include "pax/layers/softmax/gshard_softmax.h"
#include "pax/layers/transformers/stacked_transformer.h"

namespace pax {
namespace {

using Dim = std::vector<std::string>;

Dim dim(std::initializer_list<std::string> axes) {
  Dim out;
  for (const std::string& axis : axes) {
    if (!axis.empty()) out.push_back(axis);
  }
  return out;
}

Dim at(const Axes& axes, size_t i) { return i < axes.size() ? axes[i] : Dim(); }

void set_attention(config::AnyTpl atten, const TransformerSharding& s) {
  if (!atten) return;
  if (atten.as<GroupedQueryAttention::Config>() != nullptr) {
    set_weight_split(atten, "dnh", s.w_dnh);
    set_activation_split(atten, "btd", s.a_bld);
    set_activation_split(atten, "btnh", s.a_blnh);
    set_activation_split(atten, "bskh", s.a_blnh);
    return;
  }
  set_weight_split(atten, "proj", s.w_dnh);
  if (!s.w_dnh.empty()) set_weight_split(atten, "dconv", {at(s.w_dnh, 1), {}});
  set_activation_split(atten, "blnh", s.a_blnh);
  set_activation_split(atten, "bld", s.a_bld);
  if (atten.as<MultiQueryDotProductAttention::Config>() == nullptr) return;
  set_activation_split(atten, "bd", s.a_bd);
  if (!s.w_dnh.empty()) set_weight_split(atten, "proj_headless", {at(s.w_dnh, 0), at(s.w_dnh, 2)});
  if (!s.a_blh.empty()) {
    set_activation_split(atten, "blh", s.a_blh);
  } else if (!s.a_blnh.empty()) {
    set_activation_split(atten, "blh", {at(s.a_blnh, 0), at(s.a_blnh, 1), at(s.a_blnh, 3)});
  }
}

void set_feed_forward(config::AnyTpl ffn, const TransformerSharding& s) {
  if (!ffn) return;
  set_weight_split(ffn, "ffn0", s.w_df);
  if (!s.w_df.empty()) set_weight_split(ffn, "ffn1", {at(s.w_df, 1), at(s.w_df, 0)});
  set_activation_split(ffn, "ffn0", s.a_blf);
  set_activation_split(ffn, "ffn0_extend_step", s.a_bf);
  set_activation_split(ffn, "ffn1", s.a_bld);
  set_activation_split(ffn, "ffn1_extend_step", s.a_bd);
}

void set_experts(config::AnyTpl moe, const TransformerSharding& s) {
  if (!moe || s.w_emh.empty()) return;
  set_weight_split(moe, "me", {{}, {}});
  set_weight_split(moe, "emh", s.w_emh);
  set_weight_split(moe, "ehm", {at(s.w_emh, 0), at(s.w_emh, 2), at(s.w_emh, 1)});
  const Dim groups = s.expert_groups.empty() ? at(s.a_egch, 0) : s.expert_groups;
  set_activation_split(moe, "gs", {groups, {}});
  set_activation_split(moe, "gsec", {groups, {}, {}, {}});
  set_activation_split(moe, "gecs", {groups, {}, {}, {}});
  set_activation_split(moe, "gec", {groups, {}, {}});
  set_activation_split(moe, "egch", s.a_egch);
  set_activation_split(moe, "egcm", s.a_egcm);
  const Dim tokens = s.expert_groups.empty() ? at(s.a_egcm, 0) : s.expert_groups;
  set_activation_split(moe, "gsm", {tokens, {}, at(s.a_egcm, 3)});
  Axes gecm = s.a_egcm;
  if (!s.expert_groups.empty() && gecm.size() == 4) std::swap(gecm[0], gecm[1]);
  set_activation_split(moe, "gecm", gecm);
}

void set_stack(config::AnyTpl stack, const TransformerSharding& s) {
  if (!stack) return;
  if (stack.has_field("pipeline_stage")) stack = stack.get<Tpl<TransformerStack>>("pipeline_stage");
  if (stack.has_field("block")) stack = stack.get<Tpl<TransformerStack>>("block");
  const auto layers = stack.get<LayerTemplates>("transformer_layer_params_tpl");
  std::vector<Tpl<TransformerLayer>> all;
  if (const auto* one = std::get_if<0>(&layers)) {
    all = {*one};
  } else {
    all = std::get<1>(layers);
  }
  for (const Tpl<TransformerLayer>& layer : all) {
    set_attention(layer.get_or("tr_atten_tpl", Tpl<Attention>()), s);
    set_attention(layer.get_or("cross_atten_tpl", Tpl<Attention>()), s);
    set_feed_forward(layer.get_or("tr_fflayer_tpl", Tpl<TransformerFfn>()), s);
  }
  set_experts(stack.get_or("moe_layer_tpl", Tpl<TransformerFfn>()), s);
}

void set_positions(config::AnyTpl positions, const TransformerSharding& s) {
  if (!positions || positions.as<TrainablePositionalEmbedding::Config>() == nullptr) return;
  set_weight_split(positions, "wt", s.w_df);
  set_activation_split(positions, "emb_out_split_dims_mapping", s.a_bld);
}

/// Softmaxes and embeddings alike: all but GShard's keep the table as [d, v].
void set_embedding(config::AnyTpl embedding, const TransformerSharding& s) {
  if (!embedding) return;
  const bool vocabulary_first = embedding.as<GShardSharedEmbeddingSoftmax::Config>() != nullptr;
  if (!s.w_vd.empty()) {
    set_weight_split(embedding, "wt", vocabulary_first ? s.w_vd : Axes{at(s.w_vd, 1), at(s.w_vd, 0)});
  }
  embedding.try_set("lookup_style", LookupStyle::kMatmul);
  set_activation_split(embedding, "out", s.a_blv);
  set_activation_split(embedding, "emb_out_split_dims_mapping", s.a_bld);
  set_activation_split(embedding, "extend_step_out", s.a_bv);
}

}  // namespace

TransformerSharding sharding_v1(const MeshAxes& axes, OptimizedFor use) {
  const bool experts = !axes.data_expert.empty(), training = use == OptimizedFor::kTraining;
  const Dim batch = axes.batch_axes.empty() ? dim({axes.replica, axes.data, axes.data_expert}) : axes.batch_axes;
  const Dim seq = dim({axes.seq}), mdl = dim({axes.mdl}), none;
  const Dim weights = dim({axes.data, axes.data_expert, axes.seq});
  const Dim data = dim({axes.data}), expert = experts ? dim({axes.data_expert}) : data;
  const Dim groups = experts ? dim({axes.replica, axes.data}) : none;
  TransformerSharding s;
  s.w_df = {weights, mdl};
  s.w_dnh = {weights, mdl, none};
  s.w_emh = {expert, experts ? data : none, mdl};
  s.w_vd = {mdl, weights};
  s.a_bld = training ? Axes{batch, seq, mdl} : Axes{batch, none, none};
  s.a_blf = {batch, seq, mdl};
  s.a_blnh = {batch, seq, mdl, none};
  s.a_blv = {batch, seq, mdl};
  s.a_egch = {expert, experts ? data : none, none, mdl};
  s.a_egcm = training ? Axes{expert, groups, none, mdl} : Axes{batch, none, none, none};
  if (experts) s.expert_groups = dim({axes.replica, axes.data, axes.data_expert});
  return s;
}

void set_sharding(config::AnyTpl& model, const TransformerSharding& sharding) {
  for (const char* name : {"position_emb_tpl", "encoder_position_emb_tpl", "decoder_position_emb_tpl"}) {
    set_positions(model.get_or(name, Tpl<BasePositionalEmbedding>()), sharding);
  }
  set_embedding(model.get_or("softmax_tpl", Tpl<Softmax>()), sharding);
  for (const char* name : {"separate_embedding_tpl", "encoder_embedding_tpl", "decoder_embedding_tpl"}) {
    set_embedding(model.get_or(name, Tpl<Layer>()), sharding);
  }
  for (const char* name :
       {"stacked_transformer_tpl", "encoder_stacked_transformer_tpl", "decoder_stacked_transformer_tpl"}) {
    set_stack(model.get_or(name, Tpl<TransformerStack>()), sharding);
  }
}

}  // namespace pax
