#include "pax/experiments/lm/spmd_constants.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "pax/data/synthetic_input.h"

namespace pax {

std::span<const std::pair<ActivationClass, std::string_view>> enum_names(ActivationClass) {
  static constexpr std::pair<ActivationClass, std::string_view> kNames[] = {{ActivationClass::kReLU, "ReLU"},
                                                                            {ActivationClass::kGELU, "GELU"},
                                                                            {ActivationClass::kSiLU, "SiLU"},
                                                                            {ActivationClass::kSwish, "Swish"}};
  return kNames;
}

std::span<const std::pair<LrSchedule, std::string_view>> enum_names(LrSchedule) {
  static constexpr std::pair<LrSchedule, std::string_view> kNames[] = {
      {LrSchedule::kLinearRampupExponentialDecay, "linear_rampup_exponential_decay"},
      {LrSchedule::kLinearRampupCosineDecay, "linear_rampup_cosine_decay"},
      {LrSchedule::kConstant, "constant"}};
  return kNames;
}

namespace {

void model_fields(LmSpmdConstants& self, config::FieldVisitor& visit) {
  visit("NUM_LAYERS", self.NUM_LAYERS, {.min = 1, .max = 100000});
  visit("VOCAB_SIZE", self.VOCAB_SIZE, {.min = 1});
  visit("DIMS_PER_HEAD", self.DIMS_PER_HEAD, {.doc = "Unset: MODEL_DIMS / NUM_HEADS.", .min = 1});
  visit("NUM_HEADS", self.NUM_HEADS, {.doc = "Unset: MODEL_DIMS / DIMS_PER_HEAD.", .min = 1});
  visit("MODEL_DIMS", self.MODEL_DIMS, {.min = 1});
  visit("HIDDEN_DIMS", self.HIDDEN_DIMS, {.min = 1});
  visit("FPROP_DTYPE", self.FPROP_DTYPE, "Of activations; weights are float32.");
  visit("PACKED_INPUT", self.PACKED_INPUT);
  visit("USE_REPEATED_LAYER", self.USE_REPEATED_LAYER, "One layer, repeated as a loop of the program.");
  visit("SEPARATE_EMBEDDING", self.SEPARATE_EMBEDDING, "Embedding and softmax have a table each.");
  visit("TRAINABLE_POSITION_EMB", self.TRAINABLE_POSITION_EMB);
  visit("TRAINABLE_PE_MAX_SEQ_LEN", self.TRAINABLE_PE_MAX_SEQ_LEN, {.min = 1});
  visit("RELATIVE_BIAS", self.RELATIVE_BIAS);
  visit("USE_ROTARY_POSITION_EMB", self.USE_ROTARY_POSITION_EMB);
  visit("NORM_POLICY", self.NORM_POLICY);
  visit("ENABLE_DCONV", self.ENABLE_DCONV);
  visit("COMBINE_QKV", self.COMBINE_QKV);
  visit("ACTIVATION_CLS", self.ACTIVATION_CLS);
  visit("USE_GATED_ACTIVATION", self.USE_GATED_ACTIVATION);
  visit("USE_BIAS", self.USE_BIAS, "Of the attention's projections.");
  visit("DROPOUT_PROB", self.DROPOUT_PROB, {.min = 0, .max = 1});
  visit("SOFTMAX_CAP_LOGITS", self.SOFTMAX_CAP_LOGITS);
  visit("ATTEN_LOGIT_CAP", self.ATTEN_LOGIT_CAP);
  visit("CHECKPOINT_POLICY", self.CHECKPOINT_POLICY, "What the backward pass keeps.");
}

void optimizer_fields(LmSpmdConstants& self, config::FieldVisitor& visit) {
  visit("LEARNING_RATE", self.LEARNING_RATE, "Unset: by the size of the batch, as MLPerf has it.");
  visit("WEIGHT_DECAY", self.WEIGHT_DECAY);
  visit("CLIP_GRADIENT_NORM_TO_VALUE", self.CLIP_GRADIENT_NORM_TO_VALUE);
  visit("USE_ADAFACTOR", self.USE_ADAFACTOR, "ShardedAdafactor in place of Adam.");
  visit("ADAM_BETA1", self.ADAM_BETA1, {.min = 0, .max = 1});
  visit("ADAM_BETA2", self.ADAM_BETA2, {.min = 0, .max = 1});
  visit("ADAM_CLIP_THRESHOLD", self.ADAM_CLIP_THRESHOLD, "Largest rms of an update; negative: no bound.");
  visit("ADAM_EPSILON", self.ADAM_EPSILON, {.min = 0});
  visit("ADAM_EPSILON_ROOT", self.ADAM_EPSILON_ROOT, {.min = 0});
  visit("LR_SCHEDULE", self.LR_SCHEDULE);
  visit("LR_LRED_WARMUP", self.LR_LRED_WARMUP);
  visit("LR_LRED_DECAY_START", self.LR_LRED_DECAY_START);
  visit("LR_LRED_DECAY_END", self.LR_LRED_DECAY_END);
  visit("LR_LRED_MIN_RATIO", self.LR_LRED_MIN_RATIO);
  visit("LR_LRED_MAX", self.LR_LRED_MAX);
  visit("LR_COS_MIN_RATIO", self.LR_COS_MIN_RATIO);
  visit("LR_COS_MAX", self.LR_COS_MAX);
  visit("LR_COS_WARMUP", self.LR_COS_WARMUP, "Unset: 265 steps of 1536 rows.");
  visit("LR_COS_DECAY_START", self.LR_COS_DECAY_START, "Unset: after the warm-up.");
  visit("LR_COS_DECAY_END", self.LR_COS_DECAY_END, "Unset: 108600 steps of 1536 rows.");
}

void run_fields(LmSpmdConstants& self, config::FieldVisitor& visit) {
  visit("NUM_TRAIN_STEPS", self.NUM_TRAIN_STEPS, {.min = 0});
  visit("CHECKPOINT_EVERY_N_STEPS", self.CHECKPOINT_EVERY_N_STEPS, {.min = 1});
  visit("SUMMARY_INTERVAL_STEPS", self.SUMMARY_INTERVAL_STEPS, {.min = 1});
  visit("CHECKPOINT_MAX_TO_KEEP", self.CHECKPOINT_MAX_TO_KEEP, {.min = 1});
  visit("EVAL_INTERVAL_STEPS", self.EVAL_INTERVAL_STEPS, {.min = 0});
  visit("PROFILER_NUM_STEPS", self.PROFILER_NUM_STEPS, {.min = 0});
  visit("PROFILER_MIN_DURATION_SEC", self.PROFILER_MIN_DURATION_SEC, {.min = 0});
  visit("PROFILER_CAPTURE_STEP", self.PROFILER_CAPTURE_STEP);
  visit("ICI_MESH_SHAPE", self.ICI_MESH_SHAPE,
        {.doc = "Devices of a slice along ([stage,] replica, data, [data_expert,] mdl).", .min = 1});
  visit("DCN_MESH_SHAPE", self.DCN_MESH_SHAPE, {.doc = "Slices along the same axes.", .min = 1});
  visit("TRAINING_OPTIMIZED_SHARDING", self.TRAINING_OPTIMIZED_SHARDING);
  visit("USE_EXPERT_PARALLEL", self.USE_EXPERT_PARALLEL, "Experts have a mesh axis of their own.");
  visit("NUM_STAGES", self.NUM_STAGES, {.doc = "Of the pipeline; unset: none.", .min = 1});
  visit("CIRCULAR_REPEAT", self.CIRCULAR_REPEAT, {.doc = "Turns through all stages.", .min = 1});
  visit("NUM_MICROBATCHES", self.NUM_MICROBATCHES, {.min = 1});
  visit("MICROBATCH_SIZE", self.MICROBATCH_SIZE, {.min = 1});
  visit("STREAM_IO", self.STREAM_IO);
  visit("PIPELINE_BROADCAST_INPUTS", self.PIPELINE_BROADCAST_INPUTS);
  visit("EMB_W_DATA_DIMS", self.EMB_W_DATA_DIMS, "Mesh axes of a pipelined model's embedding along MODEL_DIMS.");
  visit("PERCORE_BATCH_SIZE", self.PERCORE_BATCH_SIZE,
        {.doc = "Rows of the batch for each device; may be a fraction.", .min = 0});
  visit("MAX_SEQ_LEN", self.MAX_SEQ_LEN, {.min = 1});
}

void check_heads(const LmSpmdConstants& c, config::Errors& errors) {
  if (!c.DIMS_PER_HEAD && !c.NUM_HEADS) {
    errors.add("NUM_HEADS", "required when DIMS_PER_HEAD is not set");
  } else if (!c.DIMS_PER_HEAD && c.MODEL_DIMS % *c.NUM_HEADS != 0) {
    errors.add("NUM_HEADS", fmt::format("{} heads do not divide MODEL_DIMS {}", *c.NUM_HEADS, c.MODEL_DIMS));
  } else if (c.DIMS_PER_HEAD && c.num_heads() * *c.DIMS_PER_HEAD != c.MODEL_DIMS) {
    errors.add("NUM_HEADS", fmt::format("{} heads of DIMS_PER_HEAD {} are {}, but MODEL_DIMS is {}", c.num_heads(),
                                        *c.DIMS_PER_HEAD, c.num_heads() * *c.DIMS_PER_HEAD, c.MODEL_DIMS));
  }
}

void check_mesh(const LmSpmdConstants& c, config::Errors& errors) {
  if (c.ICI_MESH_SHAPE.empty()) return;
  const std::vector<std::string> axes = c.mesh_axis_names();
  const auto check = [&](const char* name, const std::vector<int64_t>& shape) {
    if (shape.empty() || shape.size() == axes.size()) return;
    errors.add(name, fmt::format("has {} sizes, but the mesh has {} axes ({})", shape.size(), axes.size(),
                                 fmt::join(axes, ", ")));
  };
  check("ICI_MESH_SHAPE", c.ICI_MESH_SHAPE);
  check("DCN_MESH_SHAPE", c.DCN_MESH_SHAPE);
  const double rows = c.PERCORE_BATCH_SIZE * static_cast<double>(c.num_devices());
  if (rows < 1 || std::abs(rows - std::round(rows)) > 1e-6 * rows) {
    errors.add("PERCORE_BATCH_SIZE", fmt::format("{} on {} devices is a batch of {} rows; it must be a whole number",
                                                 c.PERCORE_BATCH_SIZE, c.num_devices(), rows));
  }
}

void check_pipeline(const LmSpmdConstants& c, config::Errors& errors) {
  if (!c.NUM_STAGES) return;
  const int64_t parts = *c.NUM_STAGES * c.CIRCULAR_REPEAT;
  if (c.NUM_LAYERS % parts != 0) {
    errors.add("NUM_LAYERS", fmt::format("{} layers do not divide over NUM_STAGES {} x CIRCULAR_REPEAT {}",
                                         c.NUM_LAYERS, *c.NUM_STAGES, c.CIRCULAR_REPEAT));
  }
  if (!c.NUM_MICROBATCHES && !c.MICROBATCH_SIZE) {
    errors.add("MICROBATCH_SIZE", "a pipeline needs MICROBATCH_SIZE or NUM_MICROBATCHES");
  }
  const int64_t divisor = c.NUM_MICROBATCHES ? *c.NUM_MICROBATCHES : c.MICROBATCH_SIZE.value_or(1);
  if (c.global_batch_size() % divisor != 0) {
    errors.add(c.NUM_MICROBATCHES ? "NUM_MICROBATCHES" : "MICROBATCH_SIZE",
               fmt::format("{} does not divide the batch of {} rows", divisor, c.global_batch_size()));
  }
  if (c.ICI_MESH_SHAPE.empty() || c.DCN_MESH_SHAPE.empty()) return;
  const int64_t stages = c.ICI_MESH_SHAPE[0] * c.DCN_MESH_SHAPE[0];
  if (stages != *c.NUM_STAGES) {
    errors.add("NUM_STAGES", fmt::format("{}, but the mesh's axis `stage` has {} x {} = {} devices", *c.NUM_STAGES,
                                         c.ICI_MESH_SHAPE[0], c.DCN_MESH_SHAPE[0], stages));
  }
}

}  // namespace

void LmSpmdConstants::fields(LmSpmdConstants& self, config::FieldVisitor& visit) {
  model_fields(self, visit);
  optimizer_fields(self, visit);
  run_fields(self, visit);
}

void LmSpmdConstants::validate(config::Errors& errors) const {
  check_heads(*this, errors);
  check_mesh(*this, errors);
  check_pipeline(*this, errors);
  if (RELATIVE_BIAS && USE_ROTARY_POSITION_EMB) {
    errors.add("RELATIVE_BIAS", "cannot be with USE_ROTARY_POSITION_EMB; set one of them to false");
  }
}

int64_t LmSpmdConstants::num_heads() const {
  return NUM_HEADS ? *NUM_HEADS : std::max<int64_t>(MODEL_DIMS / DIMS_PER_HEAD.value_or(MODEL_DIMS), 1);
}

int64_t LmSpmdConstants::num_devices() const {
  int64_t devices = 1;
  for (const int64_t size : ICI_MESH_SHAPE) devices *= size;
  for (const int64_t size : DCN_MESH_SHAPE) devices *= size;
  return devices;
}

int64_t LmSpmdConstants::global_batch_size() const {
  const double rows = PERCORE_BATCH_SIZE * static_cast<double>(num_devices());
  return std::max<int64_t>(std::llround(std::min(rows, 1e15)), 1);
}

std::vector<std::string> LmSpmdConstants::mesh_axis_names() const {
  std::vector<std::string> axes = batch_axes();
  axes.emplace_back("mdl");
  return axes;
}

std::vector<std::string> LmSpmdConstants::batch_axes() const {
  std::vector<std::string> axes{"replica", "data"};
  if (NUM_STAGES) axes.insert(axes.begin(), "stage");
  if (USE_EXPERT_PARALLEL) axes.emplace_back("data_expert");
  return axes;
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
