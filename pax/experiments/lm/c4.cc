#include "pax/experiments/lm/c4.h"

#include "pax/config/registry.h"
#include "pax/experiments/lm/registry.h"
#include "pax/experiments/lm/task_parts.h"

namespace pax {

C4SpmdAdam::C4SpmdAdam() {
  NUM_LAYERS = 24;
  NUM_HEADS = 32;
  DIMS_PER_HEAD.reset();
  MODEL_DIMS = 2048;
  HIDDEN_DIMS = 8192;
  VOCAB_SIZE = 32128;
  ACTIVATION_CLS = ActivationClass::kGELU;
  CHECKPOINT_POLICY = AutodiffCheckpointType::kSaveDotForMlperf200B;
  CHECKPOINT_EVERY_N_STEPS = 1000;
  PERCORE_BATCH_SIZE = 1;
  ICI_MESH_SHAPE = {1, 4, 2};
}

SingleTask C4SpmdAdam::task() const {
  SingleTask task = LmSpmdConstants::task();
  task.model.set("decoder_tpl.eos_id", int64_t{1});
  task.model.set("decoder_tpl.seqlen", MAX_SEQ_LEN);
  return task;
}

C4SpmdRepeated::C4SpmdRepeated() {
  NUM_HEADS.reset();
  DIMS_PER_HEAD = 128;
  VOCAB_SIZE = 32000;
  FPROP_DTYPE = DType::kBF16;
  USE_REPEATED_LAYER = true;
  CHECKPOINT_POLICY = AutodiffCheckpointType::kSaveNothing;
  SUMMARY_INTERVAL_STEPS = 10;
}

C4SpmdGpt3AdamOrgHP::C4SpmdGpt3AdamOrgHP() {
  MAX_SEQ_LEN = 2048;
  NUM_LAYERS = 96;
  NUM_HEADS = 96;
  MODEL_DIMS = 12288;
  HIDDEN_DIMS = 49152;
  VOCAB_SIZE = 50257;
  USE_REPEATED_LAYER = true;
  TRAINABLE_POSITION_EMB = true;
  ATTEN_LOGIT_CAP = -1;
  LEARNING_RATE = 6e-5;
  WEIGHT_DECAY = 0.1;
  ADAM_BETA2 = 0.95;
  ADAM_EPSILON = 1e-8;
  ADAM_CLIP_THRESHOLD = -1;
  CLIP_GRADIENT_NORM_TO_VALUE = 1;
  LR_SCHEDULE = LrSchedule::kLinearRampupCosineDecay;
  LR_COS_WARMUP = 265;
  LR_COS_DECAY_START = 266;
  LR_COS_DECAY_END = 108600;
  CHECKPOINT_POLICY = AutodiffCheckpointType::kSaveNothing;
  SUMMARY_INTERVAL_STEPS = 10;
  CHECKPOINT_EVERY_N_STEPS = 100;
}

void C4SpmdGpt3AdamOrgHP::fields(C4SpmdGpt3AdamOrgHP& self, config::FieldVisitor& visit) {
  LmSpmdConstants::fields(self, visit);
  visit("LAYERNORM_EPSILON", self.LAYERNORM_EPSILON, {.min = 0});
  visit("TARGET_LOG_PPLX", self.TARGET_LOG_PPLX, "Training ends when evaluation reaches it.");
}

SingleTask C4SpmdGpt3AdamOrgHP::task() const {
  SingleTask task = C4SpmdAdam::task();
  configure_gpt3(task, {.layernorm_epsilon = LAYERNORM_EPSILON, .max_seq_len = MAX_SEQ_LEN});
  task.early_stopping_fn = config::Value::map();
  task.early_stopping_fn.add("target_log_pplx", config::Value::of(TARGET_LOG_PPLX));
  return task;
}

struct C4Spmd1BAdam4Replicas : C4SpmdRepeated {
  using Product = Preset<C4Spmd1BAdam4Replicas>;
  static constexpr std::string_view kName = "lm.c4.C4Spmd1BAdam4Replicas";
  static constexpr std::string_view kDoc = "1.1B parameters on 4 chips, batch 128.";
  C4Spmd1BAdam4Replicas() {
    NUM_LAYERS = 13;
    MODEL_DIMS = 2560;
    HIDDEN_DIMS = 10240;
    NUM_HEADS = 20;
    PERCORE_BATCH_SIZE = 32;
    ICI_MESH_SHAPE = {1, 4, 1};
  }
};

struct C4Spmd1BAdam4ReplicasLimitSteps : C4Spmd1BAdam4Replicas {
  using Product = Preset<C4Spmd1BAdam4ReplicasLimitSteps>;
  static constexpr std::string_view kName = "lm.c4.C4Spmd1BAdam4ReplicasLimitSteps";
  static constexpr std::string_view kDoc = "C4Spmd1BAdam4Replicas for 15000 steps.";
  C4Spmd1BAdam4ReplicasLimitSteps() { NUM_TRAIN_STEPS = 15000; }
};

struct C4Spmd2BAdam4Replicas : C4SpmdRepeated {
  using Product = Preset<C4Spmd2BAdam4Replicas>;
  static constexpr std::string_view kName = "lm.c4.C4Spmd2BAdam4Replicas";
  static constexpr std::string_view kDoc = "2.1B parameters on 4 chips, batch 128.";
  C4Spmd2BAdam4Replicas() {
    NUM_LAYERS = 18;
    MODEL_DIMS = 3072;
    HIDDEN_DIMS = 12288;
    NUM_HEADS = 24;
    PERCORE_BATCH_SIZE = 32;
    ICI_MESH_SHAPE = {1, 4, 1};
  }
};

struct C4Spmd16BAdam32Replicas : C4SpmdRepeated {
  using Product = Preset<C4Spmd16BAdam32Replicas>;
  static constexpr std::string_view kName = "lm.c4.C4Spmd16BAdam32Replicas";
  static constexpr std::string_view kDoc = "16.5B parameters on 32 chips, batch 512.";
  C4Spmd16BAdam32Replicas() {
    NUM_LAYERS = 36;
    MODEL_DIMS = 6144;
    HIDDEN_DIMS = 24576;
    NUM_HEADS = 48;
    PERCORE_BATCH_SIZE = 16;
    ICI_MESH_SHAPE = {1, 16, 2};
  }
};

struct C4Spmd32BAdam64Replicas : C4SpmdRepeated {
  using Product = Preset<C4Spmd32BAdam64Replicas>;
  static constexpr std::string_view kName = "lm.c4.C4Spmd32BAdam64Replicas";
  static constexpr std::string_view kDoc = "32.5B parameters on 64 chips, batch 512.";
  C4Spmd32BAdam64Replicas() {
    NUM_LAYERS = 40;
    MODEL_DIMS = 8192;
    HIDDEN_DIMS = 32768;
    NUM_HEADS = 64;
    PERCORE_BATCH_SIZE = 8;
    ICI_MESH_SHAPE = {1, 16, 4};
  }
};

struct LmCloudSpmdAdam : TransformerLmSpmdAdam {
  using Product = Preset<LmCloudSpmdAdam>;
  static constexpr std::string_view kName = "lm.c4.LmCloudSpmdAdam";
  static constexpr std::string_view kDoc = "Two wide layers on synthetic data, 8 chips, batch 128.";
  LmCloudSpmdAdam() {
    NUM_LAYERS = 2;
    MODEL_DIMS = 2048;
    HIDDEN_DIMS = 8192;
    ACTIVATION_CLS = ActivationClass::kGELU;
    ICI_MESH_SHAPE = {1, 4, 2};
  }
};

struct LmCloudSpmdAdamLimitSteps : LmCloudSpmdAdam {
  using Product = Preset<LmCloudSpmdAdamLimitSteps>;
  static constexpr std::string_view kName = "lm.c4.LmCloudSpmdAdamLimitSteps";
  static constexpr std::string_view kDoc = "LmCloudSpmdAdam for 4000 steps.";
  LmCloudSpmdAdamLimitSteps() { NUM_TRAIN_STEPS = 4000; }
};

/// The base of the C4 models, itself an experiment of Pax.
struct C4SpmdAdamBase : C4SpmdAdam {
  using Product = Preset<C4SpmdAdamBase>;
  static constexpr std::string_view kName = "lm.c4.C4SpmdAdam";
  static constexpr std::string_view kDoc = "1.3B parameters, 24 layers written out, on 8 chips.";
};

struct C4SpmdGpt3AdamOrgHPBS1p5k1536Replicas : C4SpmdGpt3AdamOrgHP {
  using Product = Preset<C4SpmdGpt3AdamOrgHPBS1p5k1536Replicas>;
  static constexpr std::string_view kName = "lm.c4.C4SpmdGpt3AdamOrgHPBS1p5k1536Replicas";
  static constexpr std::string_view kDoc = "GPT-3 175B with the paper's hyperparameters on 1536 chips, batch 1536.";
  C4SpmdGpt3AdamOrgHPBS1p5k1536Replicas() {
    VOCAB_SIZE = 51200;
    PERCORE_BATCH_SIZE = 1;
    ICI_MESH_SHAPE = {1, 64, 24};
    CHECKPOINT_MAX_TO_KEEP = 100;
    EVAL_INTERVAL_STEPS = 25;
    SUMMARY_INTERVAL_STEPS = 1;
  }
};

struct C4SpmdGpt3L16AdamOrgHP : C4SpmdGpt3AdamOrgHP {
  using Product = Preset<C4SpmdGpt3L16AdamOrgHP>;
  static constexpr std::string_view kName = "lm.c4.C4SpmdGpt3L16AdamOrgHP";
  static constexpr std::string_view kDoc = "16 layers of GPT-3 175B (29.6B parameters) on 64 chips, batch 192.";
  C4SpmdGpt3L16AdamOrgHP() {
    NUM_LAYERS = 16;
    FPROP_DTYPE = DType::kBF16;
    PERCORE_BATCH_SIZE = 3;
    EVAL_INTERVAL_STEPS = 25000;
    ICI_MESH_SHAPE = {1, 16, 4};
  }
};

void register_c4(config::Registry& registry) {
  registry.add<C4SpmdAdamBase>();
  registry.add<C4Spmd1BAdam4Replicas>();
  registry.add<C4Spmd1BAdam4ReplicasLimitSteps>();
  registry.add<C4Spmd2BAdam4Replicas>();
  registry.add<C4Spmd16BAdam32Replicas>();
  registry.add<C4Spmd32BAdam64Replicas>();
  registry.add<C4SpmdGpt3AdamOrgHPBS1p5k1536Replicas>();
  registry.add<C4SpmdGpt3L16AdamOrgHP>();
  registry.add<LmCloudSpmdAdam>();
  registry.add<LmCloudSpmdAdamLimitSteps>();
}

}  // namespace pax
