#include "pax/config/registry.h"
#include "pax/experiments/lm/c4.h"
#include "pax/experiments/lm/glam.h"
#include "pax/experiments/lm/registry.h"
#include "pax/experiments/lm/task_parts.h"

// paxml.contrib.gpu.scripts_gpu.configs: GPT-3 and GLaM on GPUs. Their data is synthetic until an input is set; with
// one that has eval_sample_weights, set the model's apply_eval_sample_weights and report_strict_acc as Pax does.

namespace pax {

struct Gpt126M : TransformerLmSpmdAdam {
  double MAX_STEPS = 600000;
  double LAYERNORM_EPSILON = 1e-5;
  double INIT_STD = 0.023;
  double SOFTMAX_INIT_STD = 0.023;
  Gpt126M() {
    ICI_MESH_SHAPE = {8, 1, 1};
    DCN_MESH_SHAPE = {8, 1, 1};
    FPROP_DTYPE = DType::kBF16;
    MAX_SEQ_LEN = 2048;
    VOCAB_SIZE = 50304;
    PERCORE_BATCH_SIZE = 4;
    NUM_LAYERS = 12;
    NUM_HEADS = 12;
    MODEL_DIMS = 768;
    HIDDEN_DIMS = 3072;
    DIMS_PER_HEAD = 64;
    TRAINABLE_POSITION_EMB = true;
    TRAINABLE_PE_MAX_SEQ_LEN = 2048;
    USE_BIAS = true;
    ATTEN_LOGIT_CAP = -1;
    ACTIVATION_CLS = ActivationClass::kGELU;
    ADAM_BETA2 = 0.95;
    LEARNING_RATE = 6e-4;
    ADAM_EPSILON = 1e-8;
    WEIGHT_DECAY = 0.1;
    ADAM_CLIP_THRESHOLD = -1;
    CLIP_GRADIENT_NORM_TO_VALUE = 1;
    LR_SCHEDULE = LrSchedule::kLinearRampupCosineDecay;
    LR_COS_WARMUP = 636;
    LR_COS_DECAY_START = 637;
    LR_COS_DECAY_END = 500000;
  }
  static void fields(Gpt126M& self, config::FieldVisitor& visit) {
    LmSpmdConstants::fields(self, visit);
    visit("MAX_STEPS", self.MAX_STEPS, {.doc = "In place of NUM_TRAIN_STEPS.", .min = 0});
    visit("LAYERNORM_EPSILON", self.LAYERNORM_EPSILON, {.min = 0});
    visit("INIT_STD", self.INIT_STD, {.min = 0});
    visit("SOFTMAX_INIT_STD", self.SOFTMAX_INIT_STD, {.min = 0});
  }
  SingleTask task() const override {
    SingleTask task = LmSpmdConstants::task();
    configure_gpt3(task, {.layernorm_epsilon = LAYERNORM_EPSILON, .max_seq_len = MAX_SEQ_LEN});
    task.train.num_train_steps = MAX_STEPS;
    task.train.compute_steps_per_sec_interval_steps = SUMMARY_INTERVAL_STEPS;
    task.model.set("params_init", WeightInit::gaussian(INIT_STD));
    task.model.set("lm_tpl.softmax_tpl.params_init", WeightInit::gaussian(SOFTMAX_INIT_STD));
    task.model.set("lm_tpl.position_emb_tpl.max_seq_length", MAX_SEQ_LEN);
    task.model.set("lm_tpl.final_ln_tpl.reductions_in_fp32", true);
    Tpl<TransformerLayer> layer = layer_of(task);
    layer.set("ln_tpl.reductions_in_fp32", true);
    layer.set("tr_fflayer_tpl.ln_tpl.reductions_in_fp32", true);
    return task;
  }
};

struct Gpt5B : Gpt126M {
  Gpt5B() {
    USE_REPEATED_LAYER = true;
    ICI_MESH_SHAPE = {1, 8, 1};
    DCN_MESH_SHAPE = {1, 32, 1};
    CHECKPOINT_POLICY = AutodiffCheckpointType::kSaveDotWithNoBatchDim;
    MAX_STEPS = 75000;
    PERCORE_BATCH_SIZE = 8;
    NUM_LAYERS = 24;
    NUM_HEADS = 32;
    MODEL_DIMS = 4096;
    HIDDEN_DIMS = 16384;
    DIMS_PER_HEAD = 128;
    INIT_STD = 0.01;
    SOFTMAX_INIT_STD = 0.01;
    LEARNING_RATE = 1.6e-4;
    LR_COS_WARMUP = 115;
    LR_COS_DECAY_START = 116;
    LR_COS_DECAY_END = 62500;
    CHECKPOINT_EVERY_N_STEPS = 250;
    SUMMARY_INTERVAL_STEPS = 10;
  }
  SingleTask task() const override {
    SingleTask task = Gpt126M::task();
    block_of(task).set("input_dropout_prob", 0.1);
    return task;
  }
};

struct Gpt175B : Gpt126M {
  Gpt175B() {
    NUM_LAYERS = 96;
    NUM_HEADS = 96;
    MODEL_DIMS = 12288;
    HIDDEN_DIMS = 49152;
    DIMS_PER_HEAD.reset();
    VOCAB_SIZE = 50257;
    USE_REPEATED_LAYER = true;
    MAX_STEPS = 75000;
    LEARNING_RATE = 2e-5;
    LR_COS_WARMUP = 265;
    LR_COS_DECAY_START = 266;
    LR_COS_DECAY_END = 108600;
    SUMMARY_INTERVAL_STEPS = 10;
    CHECKPOINT_EVERY_N_STEPS = 100;
    ICI_MESH_SHAPE = {1, 8, 1};
    DCN_MESH_SHAPE = {1, 32, 1};
    PERCORE_BATCH_SIZE = 6;
  }
};

struct Synthetic126M : Gpt126M {
  using Product = Preset<Synthetic126M>;
  static constexpr std::string_view kName = "lm.gpu.Synthetic126M";
  static constexpr std::string_view kDoc =
      "126M parameters on 8 x 8 devices, batch 256, on synthetic data for 100 steps.";
  Synthetic126M() { MAX_STEPS = 100; }
};

struct Pile126M : Gpt126M {
  using Product = Preset<Pile126M>;
  static constexpr std::string_view kName = "lm.gpu.Pile126M";
  static constexpr std::string_view kDoc =
      "126M parameters on 8 x 8 devices, batch 256; the Pile once an input is set.";
};

struct Synthetic5B : Gpt5B {
  using Product = Preset<Synthetic5B>;
  static constexpr std::string_view kName = "lm.gpu.Synthetic5B";
  static constexpr std::string_view kDoc =
      "5B parameters on 32 x 8 devices, batch 2048, on synthetic data for 100 steps.";
  Synthetic5B() { MAX_STEPS = 100; }
};

struct Pile5B : Gpt5B {
  using Product = Preset<Pile5B>;
  static constexpr std::string_view kName = "lm.gpu.Pile5B";
  static constexpr std::string_view kDoc =
      "5B parameters on 32 x 8 devices, batch 2048; the Pile once an input is set.";
};

struct Synthetic175B : Gpt175B {
  using Product = Preset<Synthetic175B>;
  static constexpr std::string_view kName = "lm.gpu.Synthetic175B";
  static constexpr std::string_view kDoc = "GPT-3 175B on 32 x 8 devices, batch 1536, on synthetic data for 100 steps.";
  Synthetic175B() { MAX_STEPS = 100; }
};

struct Pile175B : Gpt175B {
  using Product = Preset<Pile175B>;
  static constexpr std::string_view kName = "lm.gpu.Pile175B";
  static constexpr std::string_view kDoc = "GPT-3 175B on 32 x 8 devices, batch 1536; the Pile once an input is set.";
};

struct Lambada126M : Gpt126M {
  using Product = Preset<Lambada126M>;
  static constexpr std::string_view kName = "lm.gpu.Lambada126M";
  static constexpr std::string_view kDoc =
      "126M parameters on 8 x 8 devices; evaluated on Lambada once an input is set.";
};

struct Glam126M64E : Gpt126M {
  int64_t NUM_EXPERTS = 64;
  double LOAD_BALANCING_WEIGHT = 0.01;
  double Z_LOSS_WEIGHT = 0.0;
  Glam126M64E() {
    ICI_MESH_SHAPE = {1, 64, 1};
    DCN_MESH_SHAPE = {1, 1, 1};
  }
  static void fields(Glam126M64E& self, config::FieldVisitor& visit) {
    Gpt126M::fields(self, visit);
    visit("NUM_EXPERTS", self.NUM_EXPERTS, {.min = 1});
    visit("LOAD_BALANCING_WEIGHT", self.LOAD_BALANCING_WEIGHT, "Over all layers with experts.");
    visit("Z_LOSS_WEIGHT", self.Z_LOSS_WEIGHT);
  }
  SingleTask task() const override {
    SingleTask task = Gpt126M::task();
    ExpertLmOptions options{.vocab_size = VOCAB_SIZE,
                            .model_dim = MODEL_DIMS,
                            .hidden_dim = HIDDEN_DIMS,
                            .num_heads = num_heads(),
                            .num_layers = NUM_LAYERS,
                            .num_experts = NUM_EXPERTS,
                            .num_groups = num_devices() / (ICI_MESH_SHAPE.back() * DCN_MESH_SHAPE.back())};
    options.load_balance_loss_weight = LOAD_BALANCING_WEIGHT / (static_cast<double>(NUM_LAYERS) / 2);
    options.z_loss_weight = Z_LOSS_WEIGHT;
    options.repeat = USE_REPEATED_LAYER;
    task.model.set("lm_tpl", glam_lm(options));
    split_over_mesh(task, *this);
    task.train.always_use_train_for_model_init = false;
    return task;
  }
};

struct Glam64B64E : Glam126M64E {
  Glam64B64E() {
    MAX_SEQ_LEN = 1024;
    DCN_MESH_SHAPE = {1, 64, 1};
    ICI_MESH_SHAPE = {1, 1, 8};
    NUM_LAYERS = 64;
    NUM_HEADS = 64;
    DIMS_PER_HEAD = 128;
    MODEL_DIMS = 8192;
    HIDDEN_DIMS = 32768;
    USE_REPEATED_LAYER = true;
    ADAM_BETA1 = 0.9;  // c4.set_adam_and_learning_rate_schedule takes the preset's 0 for unset
    ADAM_BETA2 = 0.99;
    LEARNING_RATE = 2e-5;
    LR_COS_WARMUP = 398;
    LR_COS_DECAY_START = 399;
    LR_COS_DECAY_END = 162900;
    SUMMARY_INTERVAL_STEPS = 10;
    CHECKPOINT_EVERY_N_STEPS = 100;
    CHECKPOINT_MAX_TO_KEEP = 2;
  }
};

struct PileGLaM126M64E : Glam126M64E {
  using Product = Preset<PileGLaM126M64E>;
  static constexpr std::string_view kName = "lm.gpu.PileGLaM126M64E";
  static constexpr std::string_view kDoc = "1.9B parameters, 64 experts in every second layer, on 64 devices.";
};

struct LambadaGLaM126M64E : Glam126M64E {
  using Product = Preset<LambadaGLaM126M64E>;
  static constexpr std::string_view kName = "lm.gpu.LambadaGLaM126M64E";
  static constexpr std::string_view kDoc = "PileGLaM126M64E, evaluated on Lambada once an input is set.";
};

struct PileGLaM64B64E : Glam64B64E {
  using Product = Preset<PileGLaM64B64E>;
  static constexpr std::string_view kName = "lm.gpu.PileGLaM64B64E";
  static constexpr std::string_view kDoc = "1.1T parameters, 64 experts in every second layer, on 64 x 8 devices.";
};

struct LambadaGLaM64B64E : Glam64B64E {
  using Product = Preset<LambadaGLaM64B64E>;
  static constexpr std::string_view kName = "lm.gpu.LambadaGLaM64B64E";
  static constexpr std::string_view kDoc = "PileGLaM64B64E, evaluated on Lambada once an input is set.";
};

void register_gpu(config::Registry& registry) {
  registry.add<Synthetic126M>();
  registry.add<Pile126M>();
  registry.add<Synthetic5B>();
  registry.add<Pile5B>();
  registry.add<Synthetic175B>();
  registry.add<Pile175B>();
  registry.add<Lambada126M>();
  registry.add<PileGLaM126M64E>();
  registry.add<LambadaGLaM126M64E>();
  registry.add<PileGLaM64B64E>();
  registry.add<LambadaGLaM64B64E>();
}

}  // namespace pax
