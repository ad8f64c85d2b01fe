#pragma once

#include "pax/control/remat.h"
#include "pax/layers/transformers/norm_policy.h"
#include "pax/trainer/experiment.h"

namespace pax {

enum class ActivationClass : uint8_t { kReLU, kGELU, kSiLU };
std::span<const std::pair<ActivationClass, std::string_view>> enum_names(ActivationClass);

enum class LrSchedule : uint8_t { kLinearRampupExponentialDecay, kLinearRampupCosineDecay };
std::span<const std::pair<LrSchedule, std::string_view>> enum_names(LrSchedule);

/// Class constants of Pax's SPMD language models (paxml model_params.TransformerLmSpmdAdafactor and c4.
/// TransformerLmSpmdAdam) and of their synthetic data. Presets set those that differ, in their constructors.
struct LmSpmdConstants {
  int64_t NUM_LAYERS = 10;
  int64_t VOCAB_SIZE = 32000;
  std::optional<int64_t> DIMS_PER_HEAD = 128;
  std::optional<int64_t> NUM_HEADS;
  int64_t MODEL_DIMS = 2048;
  int64_t HIDDEN_DIMS = 8192;
  DType FPROP_DTYPE = DType::kBF16;
  bool PACKED_INPUT = true;
  bool USE_REPEATED_LAYER = false;
  bool SEPARATE_EMBEDDING = false;
  bool TRAINABLE_POSITION_EMB = false;
  int64_t TRAINABLE_PE_MAX_SEQ_LEN = 16 * 1024;
  bool RELATIVE_BIAS = false;
  bool USE_ROTARY_POSITION_EMB = false;
  NormPolicy NORM_POLICY = NormPolicy::kPre;
  bool ENABLE_DCONV = false;
  bool COMBINE_QKV = true;
  ActivationClass ACTIVATION_CLS = ActivationClass::kReLU;
  bool USE_GATED_ACTIVATION = false;
  bool USE_BIAS = false;
  double DROPOUT_PROB = 0.0;
  double LEARNING_RATE = 2.5e-4;
  double WEIGHT_DECAY = 1e-3;
  double CLIP_GRADIENT_NORM_TO_VALUE = 5.0;
  std::optional<double> SOFTMAX_CAP_LOGITS = 30.0;
  double ATTEN_LOGIT_CAP = 50.0;
  AutodiffCheckpointType CHECKPOINT_POLICY = AutodiffCheckpointType::kSaveNothing;
  double ADAM_BETA1 = 0.9;
  double ADAM_BETA2 = 0.99;
  double ADAM_CLIP_THRESHOLD = 1.0;
  double ADAM_EPSILON = 1e-6;
  double ADAM_EPSILON_ROOT = 0.0;
  LrSchedule LR_SCHEDULE = LrSchedule::kLinearRampupExponentialDecay;
  int64_t LR_LRED_WARMUP = 4000;
  int64_t LR_LRED_DECAY_START = 4001;
  int64_t LR_LRED_DECAY_END = 300000;
  double LR_LRED_MIN_RATIO = 0.1;
  double LR_LRED_MAX = 1.0;
  double LR_COS_MIN_RATIO = 0.1;
  double LR_COS_MAX = 1.0;
  int64_t LR_COS_WARMUP = 4000;
  int64_t LR_COS_DECAY_START = 4001;
  int64_t LR_COS_DECAY_END = 300000;
  double NUM_TRAIN_STEPS = 1e7;
  int64_t CHECKPOINT_EVERY_N_STEPS = 5000;
  int64_t SUMMARY_INTERVAL_STEPS = 100;
  int64_t CHECKPOINT_MAX_TO_KEEP = 10;
  int64_t EVAL_INTERVAL_STEPS = 100;
  std::vector<int64_t> ICI_MESH_SHAPE;
  std::vector<int64_t> DCN_MESH_SHAPE{1, 1, 1};
  bool TRAINING_OPTIMIZED_SHARDING = true;
  double PERCORE_BATCH_SIZE = 16;
  int64_t MAX_SEQ_LEN = 1024;

  static void fields(auto& self, auto&& visit) {
    visit("NUM_LAYERS", self.NUM_LAYERS, {.min = 1});
    visit("VOCAB_SIZE", self.VOCAB_SIZE, {.min = 1});
    visit("DIMS_PER_HEAD", self.DIMS_PER_HEAD, {.min = 1});
    visit("NUM_HEADS", self.NUM_HEADS, {.min = 1});
    visit("MODEL_DIMS", self.MODEL_DIMS, {.min = 1});
    visit("HIDDEN_DIMS", self.HIDDEN_DIMS, {.min = 1});
    visit("FPROP_DTYPE", self.FPROP_DTYPE);
    visit("PACKED_INPUT", self.PACKED_INPUT);
    visit("USE_REPEATED_LAYER", self.USE_REPEATED_LAYER);
    visit("SEPARATE_EMBEDDING", self.SEPARATE_EMBEDDING);
    visit("TRAINABLE_POSITION_EMB", self.TRAINABLE_POSITION_EMB);
    visit("TRAINABLE_PE_MAX_SEQ_LEN", self.TRAINABLE_PE_MAX_SEQ_LEN);
    visit("RELATIVE_BIAS", self.RELATIVE_BIAS);
    visit("USE_ROTARY_POSITION_EMB", self.USE_ROTARY_POSITION_EMB);
    visit("NORM_POLICY", self.NORM_POLICY);
    visit("ENABLE_DCONV", self.ENABLE_DCONV);
    visit("COMBINE_QKV", self.COMBINE_QKV);
    visit("ACTIVATION_CLS", self.ACTIVATION_CLS);
    visit("USE_GATED_ACTIVATION", self.USE_GATED_ACTIVATION);
    visit("USE_BIAS", self.USE_BIAS);
    visit("DROPOUT_PROB", self.DROPOUT_PROB, {.min = 0, .max = 1});
    visit("LEARNING_RATE", self.LEARNING_RATE);
    visit("WEIGHT_DECAY", self.WEIGHT_DECAY);
    visit("CLIP_GRADIENT_NORM_TO_VALUE", self.CLIP_GRADIENT_NORM_TO_VALUE);
    visit("SOFTMAX_CAP_LOGITS", self.SOFTMAX_CAP_LOGITS);
    visit("ATTEN_LOGIT_CAP", self.ATTEN_LOGIT_CAP);
    visit("CHECKPOINT_POLICY", self.CHECKPOINT_POLICY);
    visit("ADAM_BETA1", self.ADAM_BETA1);
    visit("ADAM_BETA2", self.ADAM_BETA2);
    visit("ADAM_CLIP_THRESHOLD", self.ADAM_CLIP_THRESHOLD);
    visit("ADAM_EPSILON", self.ADAM_EPSILON);
    visit("ADAM_EPSILON_ROOT", self.ADAM_EPSILON_ROOT);
    visit("LR_SCHEDULE", self.LR_SCHEDULE);
    visit("LR_LRED_WARMUP", self.LR_LRED_WARMUP);
    visit("LR_LRED_DECAY_START", self.LR_LRED_DECAY_START);
    visit("LR_LRED_DECAY_END", self.LR_LRED_DECAY_END);
    visit("LR_LRED_MIN_RATIO", self.LR_LRED_MIN_RATIO);
    visit("LR_LRED_MAX", self.LR_LRED_MAX);
    visit("LR_COS_MIN_RATIO", self.LR_COS_MIN_RATIO);
    visit("LR_COS_MAX", self.LR_COS_MAX);
    visit("LR_COS_WARMUP", self.LR_COS_WARMUP);
    visit("LR_COS_DECAY_START", self.LR_COS_DECAY_START);
    visit("LR_COS_DECAY_END", self.LR_COS_DECAY_END);
    visit("NUM_TRAIN_STEPS", self.NUM_TRAIN_STEPS, {.min = 0});
    visit("CHECKPOINT_EVERY_N_STEPS", self.CHECKPOINT_EVERY_N_STEPS, {.min = 1});
    visit("SUMMARY_INTERVAL_STEPS", self.SUMMARY_INTERVAL_STEPS, {.min = 1});
    visit("CHECKPOINT_MAX_TO_KEEP", self.CHECKPOINT_MAX_TO_KEEP, {.min = 1});
    visit("EVAL_INTERVAL_STEPS", self.EVAL_INTERVAL_STEPS, {.min = 0});
    visit("ICI_MESH_SHAPE", self.ICI_MESH_SHAPE, "Devices of a slice along (replica, data, mdl).");
    visit("DCN_MESH_SHAPE", self.DCN_MESH_SHAPE, "Slices along (replica, data, mdl).");
    visit("TRAINING_OPTIMIZED_SHARDING", self.TRAINING_OPTIMIZED_SHARDING);
    visit("PERCORE_BATCH_SIZE", self.PERCORE_BATCH_SIZE, "Rows of the batch for each device; may be a fraction.");
    visit("MAX_SEQ_LEN", self.MAX_SEQ_LEN, {.min = 1});
  }

  /// Heads of the attention. Throws ConfigError when heads and dims do not fit together, naming the numbers.
  int64_t num_heads() const;
  int64_t num_devices() const;
  /// Rows of the batch over all devices.
  int64_t global_batch_size() const;

  /// The task that follows from the constants, with the optimizer of model_params.set_default_adam.
  SingleTask task() const;
  /// The task, synthetic data, and virtual devices for the mesh on CPU.
  ExperimentConfig experiment() const;
};

}  // namespace pax
