#include <fmt/format.h>

#include <cmath>

#include "pax/config/yaml.h"
#include "pax/interop/maxtext/maxtext.h"
#include "pax/layers/transformers/stack.h"

namespace pax {
namespace {

class MaxTextWriter {
 public:
  explicit MaxTextWriter(const ExperimentConfig& config) : config_(config) {}

  std::string write() {
    add_model();
    add_mesh();
    add_training();
    return text_;
  }

 private:
  template <class T>
  void add(std::string_view key, const T& value) {
    text_ += fmt::format("{}: {}\n", key, value);
  }
  void note(std::string_view what) { text_ += fmt::format("# {}\n", what); }

  void add_model() {
    const Tpl<BaseModel>& model = config_.task.model;
    if (!model.has_field("lm_tpl.stacked_transformer_tpl")) return note("the model is no language model");
    config::AnyTpl stack = model.get<Tpl<TransformerStack>>("lm_tpl.stacked_transformer_tpl");
    if (stack.has_field("pipeline_stage")) {
      note("MaxText has pipelines of its own; set ici_pipeline_parallelism");
      stack = stack.get<Tpl<TransformerStack>>("pipeline_stage");
    }
    const bool repeated = stack.has_field("block");
    const int64_t times = repeated ? stack.get<int64_t>("x_times") : 1;
    if (repeated) stack = stack.get<Tpl<TransformerStack>>("block");
    const auto dims = model.get<int64_t>("lm_tpl.model_dims");
    const auto heads = stack.get<int64_t>("num_heads");
    add("base_emb_dim", dims);
    add("base_num_decoder_layers", times * stack.get<int64_t>("num_layers"));
    add("base_num_query_heads", heads);
    const std::string layer = "transformer_layer_params_tpl.";
    add("base_num_kv_heads", stack.get_or<int64_t>(layer + "tr_atten_tpl.num_kv_heads", heads));
    add("head_dim", stack.get<std::optional<int64_t>>("dim_per_head").value_or(dims / std::max<int64_t>(heads, 1)));
    add("base_mlp_dim", stack.get<int64_t>("hidden_dims"));
    add("vocab_size", model.get<int64_t>("lm_tpl.vocab_size"));
    add("scan_layers", repeated);
    add("logits_via_embedding", !model.get<Tpl<Layer>>("lm_tpl.separate_embedding_tpl"));
    add("attn_logits_soft_cap", std::max(stack.get_or<double>(layer + "tr_atten_tpl.atten_logit_cap", 0), 0.0));
    add("final_logits_soft_cap",
        model.get_or<std::optional<double>>("lm_tpl.softmax_tpl.soft_cap_logits", 0).value_or(0));
    const bool gated = stack.get_or<bool>(layer + "tr_fflayer_tpl.use_gated_activation", false);
    const std::string activation = activation_name(stack, layer);
    add("mlp_activations", gated ? fmt::format("[{}, linear]", activation) : fmt::format("[{}]", activation));
    if (model.has_field("lm_tpl.position_emb_tpl.max_seq_length")) {
      add("trainable_position_size", model.get<int64_t>("lm_tpl.position_emb_tpl.max_seq_length"));
    }
    if (stack.get_or<int64_t>("num_experts", 0) > 0) note("experts: set num_experts and decoder_block by hand");
    const auto dtype = model.get<std::optional<DType>>("fprop_dtype");
    add("dtype", dtype == DType::kBF16 ? "bfloat16" : "float32");
    note("decoder_block, rope_* and the norm's kind: choose the family whose layers these are");
  }

  static std::string activation_name(const config::AnyTpl& stack, const std::string& layer) {
    const std::string path = layer + "tr_fflayer_tpl.activation_tpl";
    if (!stack.has_field(path)) return "relu";
    const std::string name(stack.get<Tpl<Layer>>(path).class_name());
    if (name.ends_with("GELU")) return "gelu";
    return name.ends_with("SiLU") || name.ends_with("Swish") ? "silu" : "relu";
  }

  void add_mesh() {
    static constexpr const char* kAxes[] = {"data", "fsdp", "tensor"};
    for (const auto& [field, where] : {std::pair{"ici_mesh_shape", "ici"}, {"dcn_mesh_shape", "dcn"}}) {
      const auto shape = config_.task.model.get<std::optional<std::vector<int64_t>>>(field);
      if (!shape) continue;
      if (shape->size() != 3) {
        note(fmt::format("{} has {} axes; MaxText's are set by hand", field, shape->size()));
        continue;
      }
      for (size_t i = 0; i < 3; ++i) add(fmt::format("{}_{}_parallelism", where, kAxes[i]), (*shape)[i]);
    }
  }

  void add_training() {
    const TrainConfig& train = config_.task.train;
    add("steps", static_cast<int64_t>(std::min(train.num_train_steps, 1e15)));
    add("checkpoint_period", train.save_interval_steps);
    add("max_num_checkpoints_to_keep", train.save_max_to_keep);
    add("log_period", train.summary_interval_steps);
    add("eval_interval", train.eval_interval_steps > 0 ? train.eval_interval_steps : -1);
    const auto optimizer = train.learner.get<Tpl<Optimizer>>("optimizer");
    if (optimizer.has_field("beta2")) {
      add("opt_type", optimizer.get_or<double>("clip_threshold", 0) > 0 ? "adam_pax" : "adamw");
      add("adam_b1", optimizer.get<double>("beta1"));
      add("adam_b2", optimizer.get<double>("beta2"));
      add("adam_eps", optimizer.get<double>("epsilon"));
      add("adam_weight_decay", optimizer.get<double>("weight_decay"));
    } else {
      note(fmt::format("opt_type: {} has no counterpart", optimizer.class_name()));
    }
    add("learning_rate", optimizer.get<double>("learning_rate"));
    add("gradient_clipping_threshold", optimizer.get<double>("clip_gradient_norm_to_value"));
    const auto schedule = optimizer.get<Tpl<Schedule>>("lr_schedule");
    if (schedule && schedule.has_field("decay_end") && schedule.class_name().ends_with("CosineDecay")) {
      const auto end = schedule.get<int64_t>("decay_end");
      add("learning_rate_schedule_steps", end + 1);
      add("warmup_steps_fraction", schedule.get_or<double>("warmup_steps", 0) / static_cast<double>(end + 1));
      add("learning_rate_final_fraction", schedule.get<double>("min_ratio"));
    } else {
      note("the learning rate's schedule has no counterpart; MaxText's is a cosine");
    }
    if (!config_.input || !config_.input.has_field("seq_len")) return;
    add("max_target_length", config_.input.get<std::optional<int64_t>>("seq_len").value_or(0));
    const auto batch = config_.input.get<std::optional<int64_t>>("batch_size").value_or(1);
    add("per_device_batch_size", static_cast<double>(batch) / static_cast<double>(devices()));
  }

  int64_t devices() const {
    int64_t out = 1;
    for (const char* field : {"ici_mesh_shape", "dcn_mesh_shape"}) {
      const auto shape = config_.task.model.get<std::optional<std::vector<int64_t>>>(field);
      if (!shape) continue;
      for (const int64_t size : *shape) out *= size;
    }
    return out;
  }

  const ExperimentConfig& config_;
  std::string text_;
};

}  // namespace

std::string to_maxtext(const ExperimentConfig& config) { return MaxTextWriter(config).write(); }

}  // namespace pax
