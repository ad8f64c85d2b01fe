#include "pax/experiments/lm/spmd_constants.h"

#include <cmath>

#include "pax/base/error.h"
#include "pax/data/synthetic_input.h"
#include "pax/layers/activations.h"
#include "pax/layers/attention/dot_product_attention.h"
#include "pax/layers/softmax/full_softmax.h"
#include "pax/layers/transformer_models/lm_sharding.h"
#include "pax/layers/transformers/stacked_transformer_repeated.h"
#include "pax/optim/adam.h"
#include "pax/optim/ramp_schedules.h"
#include "pax/task/models/language_model.h"

namespace pax {

std::span<const std::pair<ActivationClass, std::string_view>> enum_names(ActivationClass) {
  static constexpr std::pair<ActivationClass, std::string_view> kNames[] = {
      {ActivationClass::kReLU, "ReLU"}, {ActivationClass::kGELU, "GELU"}, {ActivationClass::kSiLU, "SiLU"}};
  return kNames;
}

std::span<const std::pair<LrSchedule, std::string_view>> enum_names(LrSchedule) {
  static constexpr std::pair<LrSchedule, std::string_view> kNames[] = {
      {LrSchedule::kLinearRampupExponentialDecay, "linear_rampup_exponential_decay"},
      {LrSchedule::kLinearRampupCosineDecay, "linear_rampup_cosine_decay"}};
  return kNames;
}

namespace {

Tpl<Layer> activation(ActivationClass which) {
  switch (which) {
    case ActivationClass::kReLU:
      return ReLU::Config{};
    case ActivationClass::kGELU:
      return GELU::Config{};
    case ActivationClass::kSiLU:
      return SiLU::Config{};
  }
  return {};
}

/// The whole stack: NUM_LAYERS layers one after another, or one layer repeated as a loop.
Tpl<TransformerStack> stack(const LmSpmdConstants& c) {
  StackedTransformer::Config block;
  block.model_dims = c.MODEL_DIMS;
  block.hidden_dims = c.HIDDEN_DIMS;
  block.num_layers = c.USE_REPEATED_LAYER ? 1 : c.NUM_LAYERS;
  block.num_heads = c.num_heads();
  block.dim_per_head = c.DIMS_PER_HEAD;
  block.dropout_prob = c.DROPOUT_PROB;
  auto& layer = std::get<0>(block.transformer_layer_params_tpl);
  layer.set("norm_policy", c.NORM_POLICY);
  layer.set("tr_atten_tpl.atten_logit_cap", c.ATTEN_LOGIT_CAP);
  layer.set("tr_atten_tpl.use_bias", c.USE_BIAS);
  layer.set("tr_atten_tpl.combine_qkv", c.COMBINE_QKV);
  layer.set("tr_atten_tpl.dconv_qkv", c.ENABLE_DCONV);
  layer.set("tr_atten_tpl.use_rotary_position_emb", c.USE_ROTARY_POSITION_EMB);
  if (c.RELATIVE_BIAS) layer.set("tr_atten_tpl.relative_bias_tpl", RelativeBias::Config{});
  layer.set("tr_fflayer_tpl.activation_tpl", activation(c.ACTIVATION_CLS));
  layer.set("tr_fflayer_tpl.use_gated_activation", c.USE_GATED_ACTIVATION);
  if (!c.USE_REPEATED_LAYER) return block;
  StackedTransformerRepeated::Config repeated;
  repeated.block = std::move(block);
  repeated.x_times = c.NUM_LAYERS;
  repeated.checkpoint_policy = c.CHECKPOINT_POLICY;
  return repeated;
}

LanguageModel::Config model(const LmSpmdConstants& c) {
  TransformerLm::Config lm;
  lm.packed_input = c.PACKED_INPUT;
  lm.model_dims = c.MODEL_DIMS;
  lm.vocab_size = c.VOCAB_SIZE;
  if (c.SEPARATE_EMBEDDING) {
    lm.softmax_tpl = FullSoftmax::Config{};
    lm.separate_embedding_tpl = Embedding::Config{};
    lm.separate_embedding_tpl.set("scale_sqrt_depth", true);
  } else {
    lm.softmax_tpl.set("scale_sqrt_depth", true);
  }
  lm.softmax_tpl.set("params_init", WeightInit::gaussian(1.0 / std::sqrt(static_cast<double>(c.MODEL_DIMS))));
  lm.softmax_tpl.set("soft_cap_logits", c.SOFTMAX_CAP_LOGITS);
  if (c.TRAINABLE_POSITION_EMB) {
    TrainablePositionalEmbedding::Config position;
    position.max_seq_length = c.TRAINABLE_PE_MAX_SEQ_LEN;
    lm.position_emb_tpl = position;
  }
  if (c.USE_ROTARY_POSITION_EMB) lm.position_emb_tpl = nullptr;
  lm.stacked_transformer_tpl = stack(c);
  LanguageModel::Config head;
  head.name = "xformer_lm";
  head.lm_tpl = std::move(lm);
  head.fprop_dtype = c.FPROP_DTYPE;
  if (c.ICI_MESH_SHAPE.empty()) return head;
  head.mesh_axis_names = {"replica", "data", "mdl"};
  head.ici_mesh_shape = c.ICI_MESH_SHAPE;
  head.dcn_mesh_shape = c.DCN_MESH_SHAPE;
  set_sharding(head.lm_tpl,
               sharding_v1({}, c.TRAINING_OPTIMIZED_SHARDING ? OptimizedFor::kTraining : OptimizedFor::kInference));
  return head;
}

Tpl<Schedule> schedule(const LmSpmdConstants& c) {
  if (c.LR_SCHEDULE == LrSchedule::kLinearRampupCosineDecay) {
    LinearRampupCosineDecay::Config cosine;
    cosine.warmup_steps = c.LR_COS_WARMUP;
    cosine.decay_start = c.LR_COS_DECAY_START;
    cosine.decay_end = c.LR_COS_DECAY_END;
    cosine.min_ratio = c.LR_COS_MIN_RATIO;
    cosine.max = c.LR_COS_MAX;
    return cosine;
  }
  LinearRampupExponentialDecay::Config exponential;
  exponential.warmup_steps = c.LR_LRED_WARMUP;
  exponential.decay_start = c.LR_LRED_DECAY_START;
  exponential.decay_end = c.LR_LRED_DECAY_END;
  exponential.min_ratio = c.LR_LRED_MIN_RATIO;
  exponential.max = c.LR_LRED_MAX;
  return exponential;
}

Learner::Config learner(const LmSpmdConstants& c) {
  Adam::Config adam;
  adam.beta1 = c.ADAM_BETA1;
  adam.beta2 = c.ADAM_BETA2;
  adam.epsilon = c.ADAM_EPSILON;
  adam.epsilon_root = c.ADAM_EPSILON_ROOT;
  adam.clip_threshold = c.ADAM_CLIP_THRESHOLD;
  adam.weight_decay = c.WEIGHT_DECAY;
  adam.clip_gradient_norm_to_value = c.CLIP_GRADIENT_NORM_TO_VALUE;
  adam.learning_rate = c.LEARNING_RATE;
  adam.lr_schedule = schedule(c);
  Learner::Config learner;
  learner.loss_name = "total_loss";
  learner.optimizer = std::move(adam);
  learner.repeat_prefix_sep = "_";
  return learner;
}

}  // namespace

int64_t LmSpmdConstants::num_heads() const {
  if (!DIMS_PER_HEAD) {
    if (!NUM_HEADS) fail<ConfigError>("NUM_HEADS: required when DIMS_PER_HEAD is not set");
    return *NUM_HEADS;
  }
  const int64_t heads = NUM_HEADS.value_or(MODEL_DIMS / *DIMS_PER_HEAD);
  if (heads * *DIMS_PER_HEAD != MODEL_DIMS) {
    fail<ConfigError>("NUM_HEADS: {} heads of DIMS_PER_HEAD {} are {}, but MODEL_DIMS is {}", heads, *DIMS_PER_HEAD,
                      heads * *DIMS_PER_HEAD, MODEL_DIMS);
  }
  return heads;
}

int64_t LmSpmdConstants::num_devices() const {
  int64_t devices = 1;
  for (const int64_t size : ICI_MESH_SHAPE) devices *= size;
  for (const int64_t size : DCN_MESH_SHAPE) devices *= size;
  return devices;
}

int64_t LmSpmdConstants::global_batch_size() const {
  return std::llround(PERCORE_BATCH_SIZE * static_cast<double>(num_devices()));
}

SingleTask LmSpmdConstants::task() const {
  SingleTask task;
  task.name = "xformer_task";
  task.model = model(*this);
  task.train.learner = learner(*this);
  task.train.num_train_steps = NUM_TRAIN_STEPS;
  task.train.save_interval_steps = CHECKPOINT_EVERY_N_STEPS;
  task.train.summary_interval_steps = SUMMARY_INTERVAL_STEPS;
  task.train.save_max_to_keep = CHECKPOINT_MAX_TO_KEEP;
  task.train.eval_interval_steps = EVAL_INTERVAL_STEPS;
  if (!ICI_MESH_SHAPE.empty()) task.train.batch_split = {"replica", "data"};
  return task;
}

ExperimentConfig LmSpmdConstants::experiment() const {
  data::SyntheticLmData::Config input;
  input.name = "synthetic";
  input.batch_size = global_batch_size();
  input.seq_len = MAX_SEQ_LEN;
  ExperimentConfig config;
  config.task = task();
  config.input = input;
  input.name = "synthetic_eval";
  config.eval_inputs.emplace_back(input);
  return config;
}

}  // namespace pax
