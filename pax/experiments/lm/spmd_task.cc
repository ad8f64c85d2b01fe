// From class constants to a task (paxml model_params.TransformerLmSpmd….task, c4.set_adam_and_learning_rate_schedule).

#include <cmath>

#include "pax/experiments/lm/spmd_constants.h"
#include "pax/experiments/lm/task_parts.h"
#include "pax/layers/activations.h"
#include "pax/layers/attention/dot_product_attention.h"
#include "pax/layers/softmax/full_softmax.h"
#include "pax/layers/transformers/pipelined_transformer.h"
#include "pax/layers/transformers/stacked_transformer_repeated.h"
#include "pax/optim/adafactor.h"
#include "pax/optim/adam.h"
#include "pax/optim/ramp_schedules.h"
#include "pax/optim/schedules.h"
#include "pax/task/models/language_model.h"

namespace pax {

Tpl<Layer> activation_template(ActivationClass which) {
  switch (which) {
    case ActivationClass::kReLU:
      return ReLU::Config{};
    case ActivationClass::kGELU:
      return GELU::Config{};
    case ActivationClass::kSiLU:
      return SiLU::Config{};
    case ActivationClass::kSwish:
      return Swish::Config{};
  }
  return {};
}

namespace {

StackedTransformer::Config block(const LmSpmdConstants& c, int64_t num_layers) {
  StackedTransformer::Config block;
  block.model_dims = c.MODEL_DIMS;
  block.hidden_dims = c.HIDDEN_DIMS;
  block.num_layers = num_layers;
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
  layer.set("tr_fflayer_tpl.activation_tpl", activation_template(c.ACTIVATION_CLS));
  layer.set("tr_fflayer_tpl.use_gated_activation", c.USE_GATED_ACTIVATION);
  return block;
}

/// The whole stack: layers one after another or one layer repeated as a loop; in stages when pipelined.
Tpl<TransformerStack> stack(const LmSpmdConstants& c) {
  const int64_t layers = c.NUM_LAYERS / (c.NUM_STAGES.value_or(1) * c.CIRCULAR_REPEAT);
  Tpl<TransformerStack> stage = block(c, c.USE_REPEATED_LAYER ? 1 : layers);
  if (c.USE_REPEATED_LAYER) {
    StackedTransformerRepeated::Config repeated;
    repeated.block = stage;
    repeated.x_times = layers;
    repeated.checkpoint_policy = c.CHECKPOINT_POLICY;
    stage = repeated;
  }
  if (!c.NUM_STAGES) return stage;
  PipelinedTransformer::Config pipeline;
  pipeline.pipeline_stage = stage;
  pipeline.num_pipeline_stages = c.NUM_STAGES;
  pipeline.circular_repeat = c.CIRCULAR_REPEAT;
  pipeline.num_pipeline_microbatches = c.NUM_MICROBATCHES;
  if (!c.NUM_MICROBATCHES) pipeline.pipeline_microbatch_size = c.MICROBATCH_SIZE;
  pipeline.stream_io = c.STREAM_IO;
  pipeline.pipeline_broadcast_inputs = c.PIPELINE_BROADCAST_INPUTS;
  pipeline.checkpoint_policy = c.CHECKPOINT_POLICY;
  return pipeline;
}

Tpl<BaseModel> model(const LmSpmdConstants& c) {
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
  return head;
}

/// `steps` of 1536 rows each, in steps of this batch, rounded up.
int64_t steps_of_1536(double steps, int64_t batch) {
  return static_cast<int64_t>(std::ceil(steps * 1536 / static_cast<double>(batch) - 1e-6));
}

Tpl<Schedule> schedule(const LmSpmdConstants& c) {
  if (c.LR_SCHEDULE == LrSchedule::kConstant) return ConstantSchedule::Config{};
  if (c.LR_SCHEDULE == LrSchedule::kLinearRampupCosineDecay) {
    LinearRampupCosineDecay::Config cosine;
    const int64_t warmup = c.LR_COS_WARMUP ? *c.LR_COS_WARMUP : steps_of_1536(265, c.global_batch_size());
    cosine.warmup_steps = warmup;
    cosine.decay_start = c.LR_COS_DECAY_START.value_or(warmup + 1);
    cosine.decay_end = c.LR_COS_DECAY_END ? *c.LR_COS_DECAY_END : steps_of_1536(108600, c.global_batch_size());
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

template <class Optimizer>
Tpl<Learner> learn_with(Optimizer optimizer, const LmSpmdConstants& c) {
  optimizer.weight_decay = c.WEIGHT_DECAY;
  optimizer.clip_gradient_norm_to_value = c.CLIP_GRADIENT_NORM_TO_VALUE;
  optimizer.learning_rate = c.LEARNING_RATE.value_or(c.global_batch_size() <= 3584 ? 2e-5 : 3e-5);
  optimizer.lr_schedule = schedule(c);
  Learner::Config learner;
  learner.loss_name = "total_loss";
  learner.optimizer = std::move(optimizer);
  return learner;
}

Tpl<Learner> learner(const LmSpmdConstants& c) {
  if (c.USE_ADAFACTOR) {
    ShardedAdafactor::Config adafactor;
    adafactor.decay_method = "adam";
    adafactor.beta1 = c.ADAM_BETA1;
    adafactor.decay_adam = 0.99;
    return learn_with(std::move(adafactor), c);
  }
  Adam::Config adam;
  adam.beta1 = c.ADAM_BETA1;
  adam.beta2 = c.ADAM_BETA2;
  adam.epsilon = c.ADAM_EPSILON;
  adam.epsilon_root = c.ADAM_EPSILON_ROOT;
  adam.clip_threshold = c.ADAM_CLIP_THRESHOLD;
  return learn_with(std::move(adam), c);
}

}  // namespace

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
  task.train.profiler_num_steps = PROFILER_NUM_STEPS;
  task.train.profiler_min_duration_sec = PROFILER_MIN_DURATION_SEC;
  task.train.profiler_capture_step = PROFILER_CAPTURE_STEP;
  split_over_mesh(task, *this);
  return task;
}

}  // namespace pax
