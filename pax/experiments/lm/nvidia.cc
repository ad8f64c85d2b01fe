#include "pax/experiments/lm/nvidia.h"

#include "pax/config/registry.h"
#include "pax/experiments/lm/registry.h"
#include "pax/experiments/lm/task_parts.h"
#include "pax/layers/activations.h"
#include "pax/layers/attention/grouped_query_attention.h"
#include "pax/layers/normalizations.h"
#include "pax/layers/split_dims.h"

namespace pax {

NvidiaConstants::NvidiaConstants() {
  USE_REPEATED_LAYER = true;
  ICI_MESH_SHAPE = {16, 1, 1};
  PERCORE_BATCH_SIZE = 4;
  NUM_LAYERS = 24;
  NUM_HEADS = 32;
  DIMS_PER_HEAD = 64;
  MODEL_DIMS = 2048;
  HIDDEN_DIMS = 8192;
  MAX_SEQ_LEN = 2048;
  VOCAB_SIZE = 51200;
  ACTIVATION_CLS = ActivationClass::kGELU;
  FPROP_DTYPE = DType::kBF16;
  TRAINABLE_POSITION_EMB = true;
  TRAINABLE_PE_MAX_SEQ_LEN = 2048;
  LEARNING_RATE = 6e-4;
  ADAM_BETA2 = 0.95;
  ADAM_EPSILON = 1e-8;
  CLIP_GRADIENT_NORM_TO_VALUE = 1.0;
  LR_SCHEDULE = LrSchedule::kLinearRampupCosineDecay;
  LR_COS_WARMUP = 0;
  LR_COS_DECAY_START = 1;
  LR_COS_DECAY_END = 500000;
  CHECKPOINT_EVERY_N_STEPS = 100000;
}

void NvidiaConstants::fields(NvidiaConstants& self, config::FieldVisitor& visit) {
  LmSpmdConstants::fields(self, visit);
  visit("INIT_STD", self.INIT_STD, {.doc = "Of the weights without an initializer of their own.", .min = 0});
  visit("MAX_STEPS", self.MAX_STEPS, {.doc = "In place of NUM_TRAIN_STEPS.", .min = 0});
}

SingleTask NvidiaConstants::task() const {
  SingleTask task = LmSpmdConstants::task();
  task.summary_verbosity = 0;
  task.model.set("params_init", WeightInit::gaussian(INIT_STD));
  if (MAX_STEPS) task.train.num_train_steps = *MAX_STEPS;
  return task;
}

/// In stages.
struct NvidiaPipeline : NvidiaConstants {
  NvidiaPipeline() {
    USE_REPEATED_LAYER = false;
    DCN_MESH_SHAPE = {1, 1, 1, 1};
    ICI_MESH_SHAPE = {4, 2, 1, 2};
    NUM_STAGES = 4;
    MICROBATCH_SIZE = 2;
    PERCORE_BATCH_SIZE = 1;
    DIMS_PER_HEAD = 128;
    MODEL_DIMS = 4096;
    HIDDEN_DIMS = 16384;
  }
  SingleTask task() const override {
    SingleTask task = NvidiaConstants::task();
    task.summary_verbosity = SingleTask{}.summary_verbosity;
    return task;
  }
};

struct NVIDIA1_3B : NvidiaConstants {
  using Product = Preset<NVIDIA1_3B>;
  static constexpr std::string_view kName = "lm.nvidia.NVIDIA1_3B";
  static constexpr std::string_view kDoc = "1.3B parameters on 16 devices, batch 64.";
};

struct NVIDIA8_3B : NvidiaConstants {
  using Product = Preset<NVIDIA8_3B>;
  static constexpr std::string_view kName = "lm.nvidia.NVIDIA8_3B";
  static constexpr std::string_view kDoc = "8.3B parameters on 16 devices, batch 64.";
  NVIDIA8_3B() {
    ICI_MESH_SHAPE = {4, 1, 4};
    NUM_LAYERS = 40;
    NUM_HEADS = 64;
    MODEL_DIMS = 4096;
    HIDDEN_DIMS = 16384;
  }
};

struct NVIDIA10B : NvidiaConstants {
  using Product = Preset<NVIDIA10B>;
  static constexpr std::string_view kName = "lm.nvidia.NVIDIA10B";
  static constexpr std::string_view kDoc = "10B parameters on 16 devices, batch 4.";
  NVIDIA10B() {
    ICI_MESH_SHAPE = {2, 1, 8};
    PERCORE_BATCH_SIZE = 0.25;
    NUM_LAYERS = 32;
    NUM_HEADS = 40;
    DIMS_PER_HEAD = 128;
    MODEL_DIMS = 5120;
    HIDDEN_DIMS = 20480;
  }
};

struct Llama33BProxy : NvidiaConstants {
  using Product = Preset<Llama33BProxy>;
  static constexpr std::string_view kName = "lm.nvidia.Llama33BProxy";
  static constexpr std::string_view kDoc = "25B parameters of Llama's shape on 16 devices, batch 16.";
  Llama33BProxy() {
    ICI_MESH_SHAPE = {1, 16, 1};
    PERCORE_BATCH_SIZE = 1;
    NUM_LAYERS = 60;
    VOCAB_SIZE = 32000;
    DIMS_PER_HEAD = 128;
    NUM_HEADS = 52;
    MODEL_DIMS = 6656;
    HIDDEN_DIMS = 17920;
    USE_ADAFACTOR = true;
  }
};

struct NVIDIA175B_FSDP : NvidiaConstants {
  using Product = Preset<NVIDIA175B_FSDP>;
  static constexpr std::string_view kName = "lm.nvidia.NVIDIA175B_FSDP";
  static constexpr std::string_view kDoc = "175B parameters, weights split over 8 x 16 devices, batch 128.";
  NVIDIA175B_FSDP() {
    ICI_MESH_SHAPE = {1, 16, 1};
    DCN_MESH_SHAPE = {1, 8, 1};
    PERCORE_BATCH_SIZE = 1;
    USE_ADAFACTOR = true;
    NUM_LAYERS = 96;
    NUM_HEADS = 96;
    DIMS_PER_HEAD = 128;
    MODEL_DIMS = 12288;
    HIDDEN_DIMS = 49152;
  }
};

struct NVIDIA5B : NvidiaPipeline {
  using Product = Preset<NVIDIA5B>;
  static constexpr std::string_view kName = "lm.nvidia.NVIDIA5B";
  static constexpr std::string_view kDoc = "5B parameters in 4 stages on 16 devices, batch 16.";
};

struct NVIDIA40BProxy : NvidiaPipeline {
  using Product = Preset<NVIDIA40BProxy>;
  static constexpr std::string_view kName = "lm.nvidia.NVIDIA40BProxy";
  static constexpr std::string_view kDoc =
      "10B parameters, 12 of a 40B model's layers, in 2 stages on 16 devices, batch 256.";
  NVIDIA40BProxy() {
    ICI_MESH_SHAPE = {2, 2, 1, 4};
    NUM_STAGES = 2;
    MICROBATCH_SIZE = 4;
    PERCORE_BATCH_SIZE = 16;
    NUM_LAYERS = 12;
    NUM_HEADS = 64;
    MODEL_DIMS = 8192;
    HIDDEN_DIMS = 32768;
  }
};

struct NVIDIA70BProxy : NVIDIA40BProxy {
  using Product = Preset<NVIDIA70BProxy>;
  static constexpr std::string_view kName = "lm.nvidia.NVIDIA70BProxy";
  static constexpr std::string_view kDoc =
      "17B parameters, 20 of a 70B model's layers, in 2 stages on 16 devices, batch 128.";
  NVIDIA70BProxy() {
    PERCORE_BATCH_SIZE = 8;
    NUM_LAYERS = 20;
  }
};

struct NVIDIA116BProxy : NvidiaPipeline {
  using Product = Preset<NVIDIA116BProxy>;
  static constexpr std::string_view kName = "lm.nvidia.NVIDIA116BProxy";
  static constexpr std::string_view kDoc =
      "30B parameters, 16 of a 116B model's layers, in 4 stages on 16 devices, batch 96.";
  NVIDIA116BProxy() {
    ICI_MESH_SHAPE = {4, 1, 1, 4};
    PERCORE_BATCH_SIZE = 6;
    NUM_LAYERS = 16;
    NUM_HEADS = 96;
    MODEL_DIMS = 12288;
    HIDDEN_DIMS = 49152;
  }
};

struct NVIDIA175BProxy : NVIDIA116BProxy {
  using Product = Preset<NVIDIA175BProxy>;
  static constexpr std::string_view kName = "lm.nvidia.NVIDIA175BProxy";
  static constexpr std::string_view kDoc =
      "44B parameters, 24 of a 175B model's layers, in 4 stages on 16 devices, batch 96.";
  NVIDIA175BProxy() {
    MICROBATCH_SIZE = 1;
    NUM_LAYERS = 24;
  }
};

struct NVIDIA175B : NVIDIA175BProxy {
  using Product = Preset<NVIDIA175B>;
  static constexpr std::string_view kName = "lm.nvidia.NVIDIA175B";
  static constexpr std::string_view kDoc = "175B parameters in 6 stages on 6 x 16 devices, batch 6.";
  NVIDIA175B() {
    DCN_MESH_SHAPE = {6, 1, 1, 1};
    ICI_MESH_SHAPE = {1, 1, 1, 16};
    NUM_LAYERS = 96;
    NUM_STAGES = 6;
    PERCORE_BATCH_SIZE = 0.0625;
    USE_ADAFACTOR = true;
  }
};

struct TestSmallConfig : NvidiaPipeline {
  using Product = Preset<TestSmallConfig>;
  static constexpr std::string_view kName = "lm.nvidia.TestSmallConfig";
  static constexpr std::string_view kDoc = "3.4B parameters in 2 stages on 16 devices, batch 32.";
  TestSmallConfig() {
    ICI_MESH_SHAPE = {2, 2, 1, 4};
    NUM_STAGES = 2;
    PERCORE_BATCH_SIZE = 2;
    NUM_LAYERS = 16;
  }
};

struct NVIDIA_CIRCULAR_REPEAT : TransformerLmSpmdAdam {
  using Product = Preset<NVIDIA_CIRCULAR_REPEAT>;
  static constexpr std::string_view kName = "lm.nvidia.NVIDIA_CIRCULAR_REPEAT";
  static constexpr std::string_view kDoc = "6.6B parameters, four turns through 8 stages on 8 devices, batch 8.";
  NVIDIA_CIRCULAR_REPEAT() {
    CHECKPOINT_POLICY = AutodiffCheckpointType::kSaveDotOnly;
    DCN_MESH_SHAPE = {1, 1, 1, 1};
    ICI_MESH_SHAPE = {8, 1, 1, 1};
    NUM_STAGES = 8;
    NUM_MICROBATCHES = 8;
    PERCORE_BATCH_SIZE = 1;
    CIRCULAR_REPEAT = 4;
    NUM_LAYERS = 32;
    NUM_HEADS = 32;
    MODEL_DIMS = 4096;
    HIDDEN_DIMS = 16384;
    LEARNING_RATE = 1.6e-4;
    LR_COS_WARMUP = 115;
    LR_COS_DECAY_START = 116;
    LR_COS_DECAY_END = 62500;
    CHECKPOINT_EVERY_N_STEPS = 250;
    SUMMARY_INTERVAL_STEPS = 10;
  }
  SingleTask task() const override {
    SingleTask task = LmSpmdConstants::task();
    task.summary_verbosity = 0;
    return task;
  }
};

/// Grouped-query attention, rotary positions, gated feed-forward layers, RMSNorm.
struct Llama2 : NvidiaConstants {
  int64_t NUM_KV_HEADS = 32;
  Llama2() {
    DIMS_PER_HEAD = 128;
    MAX_SEQ_LEN = 4096;
    PERCORE_BATCH_SIZE = 1;
    ICI_MESH_SHAPE = {1, 16, 1};
    MAX_STEPS = 100;
  }
  static void fields(Llama2& self, config::FieldVisitor& visit) {
    NvidiaConstants::fields(self, visit);
    visit("NUM_KV_HEADS", self.NUM_KV_HEADS, {.doc = "Of keys and values; divides NUM_HEADS.", .min = 1});
  }
  SingleTask task() const override;
};

SingleTask Llama2::task() const {
  SingleTask task = NvidiaConstants::task();
  RmsNorm::Config norm;
  norm.intermediate_dtype = DType::kF32;
  task.model.set("lm_tpl.position_emb_tpl", nullptr);
  task.model.set("lm_tpl.final_ln_tpl", norm);
  Tpl<TransformerLayer> layer = layer_of(task);
  layer.set("ln_tpl", norm);
  layer.set("tr_fflayer_tpl.ln_tpl", norm);
  layer.set("tr_fflayer_tpl.use_gated_activation", true);
  layer.set("tr_fflayer_tpl.activation_tpl", Swish::Config{});
  GroupedQueryAttention::Config attention;
  attention.num_kv_heads = NUM_KV_HEADS;
  attention.rope_min_max_timescales = {1, 10000};
  Tpl<Attention> tpl = attention;
  set_weight_split(tpl, "dnh", {{"data"}, {"mdl"}, {}});
  set_activation_split(tpl, "btd", {batch_axes(), {}, {}});
  set_activation_split(tpl, "btnh", {batch_axes(), {}, {"mdl"}, {}});
  set_activation_split(tpl, "bskh", {batch_axes(), {}, {"mdl"}, {}});
  layer.set("tr_atten_tpl", tpl);
  task.train.eval_skip_train = true;
  return task;
}

struct Llama2_7B : Llama2 {
  using Product = Preset<Llama2_7B>;
  static constexpr std::string_view kName = "lm.nvidia.Llama2_7B";
  static constexpr std::string_view kDoc = "Llama 2 7B on 16 devices, batch 16 of 4096.";
  Llama2_7B() {
    NUM_LAYERS = 32;
    MODEL_DIMS = 4096;
    HIDDEN_DIMS = 11008;
    NUM_HEADS = 32;
    NUM_KV_HEADS = 32;
  }
};

struct Llama2_13B : Llama2 {
  using Product = Preset<Llama2_13B>;
  static constexpr std::string_view kName = "lm.nvidia.Llama2_13B";
  static constexpr std::string_view kDoc = "Llama 2 13B on 16 devices, batch 16 of 4096.";
  Llama2_13B() {
    NUM_LAYERS = 40;
    MODEL_DIMS = 5120;
    HIDDEN_DIMS = 13824;
    NUM_HEADS = 40;
    NUM_KV_HEADS = 40;
  }
};

struct Llama2_70B : Llama2 {
  using Product = Preset<Llama2_70B>;
  static constexpr std::string_view kName = "lm.nvidia.Llama2_70B";
  static constexpr std::string_view kDoc = "Llama 2 70B on 4 x 16 devices, batch 64 of 4096.";
  Llama2_70B() {
    NUM_LAYERS = 80;
    MODEL_DIMS = 8192;
    HIDDEN_DIMS = 28672;
    NUM_HEADS = 64;
    NUM_KV_HEADS = 8;
    DCN_MESH_SHAPE = {1, 4, 1};
  }
};

void register_nvidia(config::Registry& registry) {
  registry.add<NVIDIA1_3B>();
  registry.add<NVIDIA8_3B>();
  registry.add<NVIDIA10B>();
  registry.add<Llama33BProxy>();
  registry.add<NVIDIA175B_FSDP>();
  registry.add<NVIDIA5B>();
  registry.add<NVIDIA40BProxy>();
  registry.add<NVIDIA70BProxy>();
  registry.add<NVIDIA116BProxy>();
  registry.add<NVIDIA175BProxy>();
  registry.add<NVIDIA175B>();
  registry.add<TestSmallConfig>();
  registry.add<NVIDIA_CIRCULAR_REPEAT>();
  registry.add<Llama2_7B>();
  registry.add<Llama2_13B>();
  registry.add<Llama2_70B>();
}

}  // namespace pax
