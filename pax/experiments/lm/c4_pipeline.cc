#include "pax/config/registry.h"
#include "pax/experiments/lm/c4.h"
#include "pax/experiments/lm/registry.h"

// The models of paxml.tasks.lm.params.c4 that run in stages.

namespace pax {

struct C4SpmdPipelineAdam : C4SpmdAdam {
  using Product = Preset<C4SpmdPipelineAdam>;
  static constexpr std::string_view kName = "lm.c4.C4SpmdPipelineAdam";
  static constexpr std::string_view kDoc = "1.3B parameters in 2 stages on 8 chips.";
  C4SpmdPipelineAdam() {
    MICROBATCH_SIZE = 2;
    ICI_MESH_SHAPE = {2, 1, 2, 2};
    DCN_MESH_SHAPE = {1, 1, 1, 1};
    NUM_STAGES = 2;
    EMB_W_DATA_DIMS = {"replica", "data"};
  }
};

struct C4SpmdPipelineGpt3AdamOrgHP : C4SpmdGpt3AdamOrgHP {
  C4SpmdPipelineGpt3AdamOrgHP() {
    USE_REPEATED_LAYER = false;
    MICROBATCH_SIZE = 2;
    ICI_MESH_SHAPE = {2, 1, 2, 2};
    DCN_MESH_SHAPE = {1, 1, 1, 1};
    NUM_STAGES = 2;
    EMB_W_DATA_DIMS = {"replica", "data"};
  }
};

/// Learning rate and schedule follow from the size of the batch.
struct C4SpmdPipelineGpt3AdamMLPerfHP : C4SpmdPipelineGpt3AdamOrgHP {
  C4SpmdPipelineGpt3AdamMLPerfHP() {
    VOCAB_SIZE = 51200;
    SUMMARY_INTERVAL_STEPS = 1;
    CHECKPOINT_MAX_TO_KEEP = 100;
    LEARNING_RATE.reset();
    LR_COS_WARMUP.reset();
    LR_COS_DECAY_START.reset();
    LR_COS_DECAY_END.reset();
  }
};

/// 24 layers of width 3072.
struct C4SpmdPipelineGpt3Small : C4SpmdPipelineGpt3AdamOrgHP {
  C4SpmdPipelineGpt3Small() {
    NUM_LAYERS = 24;
    NUM_HEADS = 24;
    MODEL_DIMS = 3072;
    HIDDEN_DIMS = 12288;
    DIMS_PER_HEAD = 128;
    VOCAB_SIZE = 51200;
    MICROBATCH_SIZE = 8;
    FPROP_DTYPE = DType::kBF16;
    LEARNING_RATE = 2e-4;
    CHECKPOINT_MAX_TO_KEEP = 1000;
    EVAL_INTERVAL_STEPS = 10;
    SUMMARY_INTERVAL_STEPS = 5;
    CHECKPOINT_EVERY_N_STEPS = 200;
  }
};

struct C4SpmdPipelineGpt3AdamOrgHPBS1p5k768Replicas : C4SpmdPipelineGpt3AdamOrgHP {
  using Product = Preset<C4SpmdPipelineGpt3AdamOrgHPBS1p5k768Replicas>;
  static constexpr std::string_view kName = "lm.c4.C4SpmdPipelineGpt3AdamOrgHPBS1p5k768Replicas";
  static constexpr std::string_view kDoc = "GPT-3 175B in 8 stages on 768 chips, batch 1536.";
  C4SpmdPipelineGpt3AdamOrgHPBS1p5k768Replicas() {
    PERCORE_BATCH_SIZE = 2;
    VOCAB_SIZE = 51200;
    NUM_STAGES = 8;
    ICI_MESH_SHAPE = {8, 1, 8, 12};
    CHECKPOINT_MAX_TO_KEEP = 100;
    EVAL_INTERVAL_STEPS = 25;
    SUMMARY_INTERVAL_STEPS = 1;
    CHECKPOINT_EVERY_N_STEPS = 50;
  }
};

struct C4SpmdPipelineGpt3AdamMLPerfHPBS1p5k768Replicas : C4SpmdPipelineGpt3AdamMLPerfHP {
  using Product = Preset<C4SpmdPipelineGpt3AdamMLPerfHPBS1p5k768Replicas>;
  static constexpr std::string_view kName = "lm.c4.C4SpmdPipelineGpt3AdamMLPerfHPBS1p5k768Replicas";
  static constexpr std::string_view kDoc = "MLPerf's GPT-3 175B in 8 stages on 768 chips, batch 1536.";
  C4SpmdPipelineGpt3AdamMLPerfHPBS1p5k768Replicas() {
    PERCORE_BATCH_SIZE = 2;
    NUM_STAGES = 8;
    ICI_MESH_SHAPE = {8, 1, 8, 12};
    MICROBATCH_SIZE = 8;
    EVAL_INTERVAL_STEPS = 16;
    CHECKPOINT_EVERY_N_STEPS = 32;
  }
};

struct C4SpmdPipelineGpt3AdamMLPerfHPBS2k512Replicas : C4SpmdPipelineGpt3AdamMLPerfHP {
  using Product = Preset<C4SpmdPipelineGpt3AdamMLPerfHPBS2k512Replicas>;
  static constexpr std::string_view kName = "lm.c4.C4SpmdPipelineGpt3AdamMLPerfHPBS2k512Replicas";
  static constexpr std::string_view kDoc = "MLPerf's GPT-3 175B in 8 stages on 512 chips, batch 2048.";
  C4SpmdPipelineGpt3AdamMLPerfHPBS2k512Replicas() {
    PERCORE_BATCH_SIZE = 4;
    NUM_STAGES = 8;
    ICI_MESH_SHAPE = {8, 1, 8, 8};
    MICROBATCH_SIZE = 8;
    EVAL_INTERVAL_STEPS = 12;
    CHECKPOINT_EVERY_N_STEPS = 24;
    STREAM_IO = true;
  }
};

struct C4SpmdPipelineGpt3AdamMLPerfHPBS3k768Replicas : C4SpmdPipelineGpt3AdamMLPerfHP {
  using Product = Preset<C4SpmdPipelineGpt3AdamMLPerfHPBS3k768Replicas>;
  static constexpr std::string_view kName = "lm.c4.C4SpmdPipelineGpt3AdamMLPerfHPBS3k768Replicas";
  static constexpr std::string_view kDoc = "MLPerf's GPT-3 175B in 4 stages on 768 chips, batch 3072.";
  C4SpmdPipelineGpt3AdamMLPerfHPBS3k768Replicas() {
    PERCORE_BATCH_SIZE = 4;
    NUM_STAGES = 4;
    ICI_MESH_SHAPE = {4, 1, 16, 12};
    MICROBATCH_SIZE = 16;
    EVAL_INTERVAL_STEPS = 8;
    CHECKPOINT_EVERY_N_STEPS = 16;
    STREAM_IO = true;
  }
};

struct C4SpmdPipelineGpt3AdamMLPerfHPBS4k1024Replicas : C4SpmdPipelineGpt3AdamMLPerfHP {
  using Product = Preset<C4SpmdPipelineGpt3AdamMLPerfHPBS4k1024Replicas>;
  static constexpr std::string_view kName = "lm.c4.C4SpmdPipelineGpt3AdamMLPerfHPBS4k1024Replicas";
  static constexpr std::string_view kDoc = "MLPerf's GPT-3 175B in 8 stages on 1024 chips, batch 4096.";
  C4SpmdPipelineGpt3AdamMLPerfHPBS4k1024Replicas() {
    PERCORE_BATCH_SIZE = 4;
    NUM_STAGES = 8;
    ICI_MESH_SHAPE = {8, 1, 8, 16};
    MICROBATCH_SIZE = 8;
    EVAL_INTERVAL_STEPS = 6;
    CHECKPOINT_EVERY_N_STEPS = 12;
    STREAM_IO = true;
  }
};

struct C4SpmdPipelineGpt3AdamMLPerfHPBS8k1024Replicas : C4SpmdPipelineGpt3AdamMLPerfHP {
  using Product = Preset<C4SpmdPipelineGpt3AdamMLPerfHPBS8k1024Replicas>;
  static constexpr std::string_view kName = "lm.c4.C4SpmdPipelineGpt3AdamMLPerfHPBS8k1024Replicas";
  static constexpr std::string_view kDoc = "MLPerf's GPT-3 175B in 4 stages on 1024 chips, batch 8192.";
  C4SpmdPipelineGpt3AdamMLPerfHPBS8k1024Replicas() {
    PERCORE_BATCH_SIZE = 8;
    NUM_STAGES = 4;
    ICI_MESH_SHAPE = {4, 1, 16, 16};
    MICROBATCH_SIZE = 16;
    EVAL_INTERVAL_STEPS = 3;
    CHECKPOINT_EVERY_N_STEPS = 6;
    STREAM_IO = true;
  }
};

struct C4SpmdPipelineGpt3SmallAdam8Replicas : C4SpmdPipelineGpt3Small {
  using Product = Preset<C4SpmdPipelineGpt3SmallAdam8Replicas>;
  static constexpr std::string_view kName = "lm.c4.C4SpmdPipelineGpt3SmallAdam8Replicas";
  static constexpr std::string_view kDoc =
      "2.9B parameters (GPT-3 XL in Pax's words) in 2 stages on 8 chips, batch 512.";
  C4SpmdPipelineGpt3SmallAdam8Replicas() { PERCORE_BATCH_SIZE = 64; }
};

struct C4SpmdPipelineGpt3SmallAdam64Replicas : C4SpmdPipelineGpt3Small {
  using Product = Preset<C4SpmdPipelineGpt3SmallAdam64Replicas>;
  static constexpr std::string_view kName = "lm.c4.C4SpmdPipelineGpt3SmallAdam64Replicas";
  static constexpr std::string_view kDoc =
      "The same model in 4 stages on 64 chips, batch 64, as the first releases had it.";
  C4SpmdPipelineGpt3SmallAdam64Replicas() {
    VOCAB_SIZE = 50257;
    NUM_STAGES = 4;
    MICROBATCH_SIZE = 16;
    PERCORE_BATCH_SIZE = 1;
    ICI_MESH_SHAPE = {4, 1, 4, 4};
    EVAL_INTERVAL_STEPS = 100;
    SUMMARY_INTERVAL_STEPS = 1;
  }
};

void register_c4_pipeline(config::Registry& registry) {
  registry.add<C4SpmdPipelineAdam>();
  registry.add<C4SpmdPipelineGpt3AdamOrgHPBS1p5k768Replicas>();
  registry.add<C4SpmdPipelineGpt3AdamMLPerfHPBS1p5k768Replicas>();
  registry.add<C4SpmdPipelineGpt3AdamMLPerfHPBS2k512Replicas>();
  registry.add<C4SpmdPipelineGpt3AdamMLPerfHPBS3k768Replicas>();
  registry.add<C4SpmdPipelineGpt3AdamMLPerfHPBS4k1024Replicas>();
  registry.add<C4SpmdPipelineGpt3AdamMLPerfHPBS8k1024Replicas>();
  registry.add<C4SpmdPipelineGpt3SmallAdam8Replicas>();
  registry.add<C4SpmdPipelineGpt3SmallAdam64Replicas>();
}

}  // namespace pax
