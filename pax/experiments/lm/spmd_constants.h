#pragma once

#include "pax/control/remat.h"
#include "pax/layers/transformers/norm_policy.h"
#include "pax/trainer/experiment.h"

namespace pax {

enum class ActivationClass : uint8_t { kReLU, kGELU, kSiLU, kSwish };
std::span<const std::pair<ActivationClass, std::string_view>> enum_names(ActivationClass);

enum class LrSchedule : uint8_t { kLinearRampupExponentialDecay, kLinearRampupCosineDecay, kConstant };
std::span<const std::pair<LrSchedule, std::string_view>> enum_names(LrSchedule);

/// Class constants of Pax's SPMD language models (paxml model_params.TransformerLmSpmdAdafactor, its pipelined sister,
/// c4.TransformerLmSpmdAdam) and of their synthetic data. Presets set those that differ, in their constructors; what
/// follows from the constants is derived anew when one is overridden.
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
  std::optional<double> LEARNING_RATE = 2.5e-4;
  double WEIGHT_DECAY = 1e-3;
  double CLIP_GRADIENT_NORM_TO_VALUE = 5.0;
  std::optional<double> SOFTMAX_CAP_LOGITS = 30.0;
  double ATTEN_LOGIT_CAP = 50.0;
  AutodiffCheckpointType CHECKPOINT_POLICY = AutodiffCheckpointType::kSaveNothing;
  bool USE_ADAFACTOR = false;
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
  std::optional<int64_t> LR_COS_WARMUP = 4000;
  std::optional<int64_t> LR_COS_DECAY_START = 4001;
  std::optional<int64_t> LR_COS_DECAY_END = 300000;
  double NUM_TRAIN_STEPS = 1e7;
  int64_t CHECKPOINT_EVERY_N_STEPS = 5000;
  int64_t SUMMARY_INTERVAL_STEPS = 100;
  int64_t CHECKPOINT_MAX_TO_KEEP = 10;
  int64_t EVAL_INTERVAL_STEPS = 100;
  int64_t PROFILER_NUM_STEPS = 2;
  double PROFILER_MIN_DURATION_SEC = 1.0;
  std::optional<int64_t> PROFILER_CAPTURE_STEP;
  std::vector<int64_t> ICI_MESH_SHAPE;
  std::vector<int64_t> DCN_MESH_SHAPE{1, 1, 1};
  bool TRAINING_OPTIMIZED_SHARDING = true;
  bool USE_EXPERT_PARALLEL = false;
  std::optional<int64_t> NUM_STAGES;
  int64_t CIRCULAR_REPEAT = 1;
  std::optional<int64_t> NUM_MICROBATCHES;
  std::optional<int64_t> MICROBATCH_SIZE;
  bool STREAM_IO = false;
  bool PIPELINE_BROADCAST_INPUTS = false;
  std::vector<std::string> EMB_W_DATA_DIMS{"data"};
  double PERCORE_BATCH_SIZE = 16;
  int64_t MAX_SEQ_LEN = 1024;

  virtual ~LmSpmdConstants() = default;
  static void fields(LmSpmdConstants& self, config::FieldVisitor& visit);
  /// Constants that do not fit together, with their numbers.
  void validate(config::Errors& errors) const;

  /// Heads of the attention: NUM_HEADS, or as many of DIMS_PER_HEAD as fit into MODEL_DIMS.
  int64_t num_heads() const;
  int64_t num_devices() const;
  /// Rows of the batch over all devices.
  int64_t global_batch_size() const;
  /// Names of the mesh axes: (replica, data, mdl), with `stage` before when pipelined and `data_expert` when experts
  /// have an axis of their own.
  std::vector<std::string> mesh_axis_names() const;
  /// The axes over which rows of a batch are split.
  std::vector<std::string> batch_axes() const;

  /// The task that follows from the constants, with the optimizer of model_params.set_default_adam.
  virtual SingleTask task() const;
  /// The task and synthetic data.
  virtual ExperimentConfig experiment() const;
};

}  // namespace pax
