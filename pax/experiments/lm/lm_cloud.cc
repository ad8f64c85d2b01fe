#include "pax/experiments/lm/lm_cloud.h"

#include "pax/config/registry.h"
#include "pax/experiments/lm/registry.h"

// paxml.tasks.lm.params.lm_cloud: language models on synthetic data.

namespace pax {

SingleTask LmCloudSpmd::task() const {
  SingleTask task = LmSpmdConstants::task();
  task.train.learner.set("repeat_prefix_sep", "_");
  return task;
}

/// Data-parallel models of the first kind: no mesh, no cap on the softmax's logits.
struct LmCloudTransformer : LmCloudSpmd {
  LmCloudTransformer() {
    USE_REPEATED_LAYER = false;
    ACTIVATION_CLS = ActivationClass::kReLU;
    NUM_HEADS = 16;
    DIMS_PER_HEAD.reset();
    MODEL_DIMS = 1024;
    HIDDEN_DIMS = 4096;
    FPROP_DTYPE = DType::kF32;
    COMBINE_QKV = false;
    SOFTMAX_CAP_LOGITS = 0.0;
    LEARNING_RATE = 1e-3;
  }
  SingleTask task() const override {
    SingleTask task = LmCloudSpmd::task();
    if (FPROP_DTYPE == DType::kF32) task.model.set("fprop_dtype", nullptr);
    return task;
  }
};

struct LmCloudTransformerAdam : LmCloudTransformer {
  using Product = Preset<LmCloudTransformerAdam>;
  static constexpr std::string_view kName = "lm.lm_cloud.LmCloudTransformerAdam";
  static constexpr std::string_view kDoc = "0.44B parameters, 32 layers, no mesh.";
  LmCloudTransformerAdam() { NUM_LAYERS = 32; }
};

struct LmCloudTransformerAdamTest : LmCloudTransformer {
  using Product = Preset<LmCloudTransformerAdamTest>;
  static constexpr std::string_view kName = "lm.lm_cloud.LmCloudTransformerAdamTest";
  static constexpr std::string_view kDoc = "LmCloudTransformerAdam with two layers.";
  LmCloudTransformerAdamTest() { NUM_LAYERS = 2; }
};

struct LmCloudTransformerAdamLimitSteps : LmCloudTransformer {
  using Product = Preset<LmCloudTransformerAdamLimitSteps>;
  static constexpr std::string_view kName = "lm.lm_cloud.LmCloudTransformerAdamLimitSteps";
  static constexpr std::string_view kDoc = "LmCloudTransformerAdam with ten layers, for 2000 steps.";
  LmCloudTransformerAdamLimitSteps() {
    NUM_LAYERS = 10;
    NUM_TRAIN_STEPS = 2000;
  }
};

struct LmCloudSpmdTest : LmCloudSpmd {
  using Product = Preset<LmCloudSpmdTest>;
  static constexpr std::string_view kName = "lm.lm_cloud.LmCloudSpmdTest";
  static constexpr std::string_view kDoc = "2.2M parameters: two small layers, for a test run on CPU.";
  LmCloudSpmdTest() {
    PERCORE_BATCH_SIZE = 4;
    NUM_LAYERS = 2;
    MODEL_DIMS = 64;
    HIDDEN_DIMS = 256;
    DIMS_PER_HEAD = 8;
    ICI_MESH_SHAPE = {1, 1, 1};
  }
};

struct LmCloudSpmd2B : LmCloudSpmd {
  using Product = Preset<LmCloudSpmd2B>;
  static constexpr std::string_view kName = "lm.lm_cloud.LmCloudSpmd2B";
  static constexpr std::string_view kDoc = "2.1B parameters on 4 chips, batch 32.";
  LmCloudSpmd2B() {
    PERCORE_BATCH_SIZE = 8;
    NUM_LAYERS = 18;
    MODEL_DIMS = 3072;
    HIDDEN_DIMS = 12288;
    ICI_MESH_SHAPE = {1, 4, 1};
  }
};

struct LmCloudSpmd2BLimitSteps : LmCloudSpmd2B {
  using Product = Preset<LmCloudSpmd2BLimitSteps>;
  static constexpr std::string_view kName = "lm.lm_cloud.LmCloudSpmd2BLimitSteps";
  static constexpr std::string_view kDoc = "LmCloudSpmd2B for 300 steps.";
  LmCloudSpmd2BLimitSteps() { NUM_TRAIN_STEPS = 300; }
};

struct LmCloudSpmd32B : LmCloudSpmd {
  using Product = Preset<LmCloudSpmd32B>;
  static constexpr std::string_view kName = "lm.lm_cloud.LmCloudSpmd32B";
  static constexpr std::string_view kDoc = "32.5B parameters on 64 chips, batch 512.";
  LmCloudSpmd32B() {
    PERCORE_BATCH_SIZE = 8;
    NUM_LAYERS = 40;
    MODEL_DIMS = 8192;
    HIDDEN_DIMS = 32768;
    CHECKPOINT_POLICY = AutodiffCheckpointType::kSaveContextAndOutProj;
    ICI_MESH_SHAPE = {1, 16, 4};
  }
};

struct LmCloudSpmd64B : LmCloudSpmd {
  using Product = Preset<LmCloudSpmd64B>;
  static constexpr std::string_view kName = "lm.lm_cloud.LmCloudSpmd64B";
  static constexpr std::string_view kDoc = "64.5B parameters on 128 chips, batch 512.";
  LmCloudSpmd64B() {
    PERCORE_BATCH_SIZE = 4;
    NUM_LAYERS = 51;
    MODEL_DIMS = 10240;
    HIDDEN_DIMS = 40960;
    CHECKPOINT_POLICY = AutodiffCheckpointType::kSaveContextAndOutProj;
    ICI_MESH_SHAPE = {1, 16, 8};
  }
};

struct LmCloudSpmd128B : LmCloudSpmd {
  using Product = Preset<LmCloudSpmd128B>;
  static constexpr std::string_view kName = "lm.lm_cloud.LmCloudSpmd128B";
  static constexpr std::string_view kDoc = "129B parameters on 256 chips, batch 1024.";
  LmCloudSpmd128B() {
    PERCORE_BATCH_SIZE = 4;
    NUM_LAYERS = 71;
    MODEL_DIMS = 12288;
    HIDDEN_DIMS = 49152;
    ICI_MESH_SHAPE = {1, 64, 4};
  }
};

struct LmCloudSpmd256B : LmCloudSpmd {
  using Product = Preset<LmCloudSpmd256B>;
  static constexpr std::string_view kName = "lm.lm_cloud.LmCloudSpmd256B";
  static constexpr std::string_view kDoc = "258B parameters on 512 chips, batch 2048.";
  LmCloudSpmd256B() {
    PERCORE_BATCH_SIZE = 4;
    NUM_LAYERS = 80;
    MODEL_DIMS = 16384;
    HIDDEN_DIMS = 65536;
    ICI_MESH_SHAPE = {1, 64, 8};
  }
};

struct LmCloudSpmd512B : LmCloudSpmd {
  using Product = Preset<LmCloudSpmd512B>;
  static constexpr std::string_view kName = "lm.lm_cloud.LmCloudSpmd512B";
  static constexpr std::string_view kDoc = "514B parameters on 1024 chips, batch 4096.";
  LmCloudSpmd512B() {
    PERCORE_BATCH_SIZE = 4;
    NUM_LAYERS = 102;
    MODEL_DIMS = 20480;
    HIDDEN_DIMS = 81920;
    ICI_MESH_SHAPE = {1, 64, 16};
  }
};

struct LmCloudSpmd1024B : LmCloudSpmd {
  using Product = Preset<LmCloudSpmd1024B>;
  static constexpr std::string_view kName = "lm.lm_cloud.LmCloudSpmd1024B";
  static constexpr std::string_view kDoc = "1030B parameters on 2048 chips, batch 4096.";
  LmCloudSpmd1024B() {
    PERCORE_BATCH_SIZE = 2;
    NUM_LAYERS = 142;
    MODEL_DIMS = 24576;
    HIDDEN_DIMS = 98304;
    ICI_MESH_SHAPE = {1, 256, 8};
  }
};

struct LmCloudSpmdMultislice2B : LmCloudSpmd {
  using Product = Preset<LmCloudSpmdMultislice2B>;
  static constexpr std::string_view kName = "lm.lm_cloud.LmCloudSpmdMultislice2B";
  static constexpr std::string_view kDoc = "2.1B parameters on two slices of 4 chips, batch 128.";
  LmCloudSpmdMultislice2B() {
    PERCORE_BATCH_SIZE = 16;
    NUM_LAYERS = 18;
    MODEL_DIMS = 3072;
    HIDDEN_DIMS = 12288;
    ICI_MESH_SHAPE = {1, 4, 1};
    DCN_MESH_SHAPE = {2, 1, 1};
  }
};

/// Models in stages.
struct LmCloudSpmdPipeline : LmSpmdConstants {
  LmCloudSpmdPipeline() {
    ACTIVATION_CLS = ActivationClass::kGELU;
    DCN_MESH_SHAPE = {1, 1, 1, 1};
  }
};

struct LmCloudSpmdPipeline9B : LmCloudSpmdPipeline {
  using Product = Preset<LmCloudSpmdPipeline9B>;
  static constexpr std::string_view kName = "lm.lm_cloud.LmCloudSpmdPipeline9B";
  static constexpr std::string_view kDoc = "9.8B parameters in 16 stages on 64 chips, batch 512.";
  LmCloudSpmdPipeline9B() {
    MICROBATCH_SIZE = 4;
    PERCORE_BATCH_SIZE = 8;
    NUM_STAGES = 16;
    NUM_LAYERS = 48;
    MODEL_DIMS = 4096;
    HIDDEN_DIMS = 16384;
    FPROP_DTYPE = DType::kF32;
    ICI_MESH_SHAPE = {16, 4, 1, 1};
  }
};

struct LmCloudSpmdPipeline175B : LmCloudSpmdPipeline {
  using Product = Preset<LmCloudSpmdPipeline175B>;
  static constexpr std::string_view kName = "lm.lm_cloud.LmCloudSpmdPipeline175B";
  static constexpr std::string_view kDoc = "174B parameters in 8 stages on 8 x 16 devices, batch 96.";
  LmCloudSpmdPipeline175B() {
    MICROBATCH_SIZE = 2;
    PERCORE_BATCH_SIZE = 0.75;
    NUM_STAGES = 8;
    NUM_LAYERS = 96;
    MODEL_DIMS = 12288;
    NUM_HEADS = 96;
    MAX_SEQ_LEN = 2048;
    HIDDEN_DIMS = 49152;
    ICI_MESH_SHAPE = {1, 1, 1, 16};
    DCN_MESH_SHAPE = {8, 1, 1, 1};
  }
};

struct LmCloudSpmdPipelineMultislice2B : LmCloudSpmdPipeline {
  using Product = Preset<LmCloudSpmdPipelineMultislice2B>;
  static constexpr std::string_view kName = "lm.lm_cloud.LmCloudSpmdPipelineMultislice2B";
  static constexpr std::string_view kDoc = "2.1B parameters in 2 stages, each on a slice of 4 chips, batch 128.";
  LmCloudSpmdPipelineMultislice2B() {
    MICROBATCH_SIZE = 4;
    PERCORE_BATCH_SIZE = 16;
    NUM_STAGES = 2;
    NUM_LAYERS = 18;
    MODEL_DIMS = 3072;
    HIDDEN_DIMS = 12288;
    ICI_MESH_SHAPE = {1, 4, 1, 1};
    DCN_MESH_SHAPE = {2, 1, 1, 1};
    EMB_W_DATA_DIMS = {"replica", "data"};
    STREAM_IO = true;
  }
};

struct LmCloudSpmdPipelineMultislice2BCircular : LmCloudSpmdPipelineMultislice2B {
  using Product = Preset<LmCloudSpmdPipelineMultislice2BCircular>;
  static constexpr std::string_view kName = "lm.lm_cloud.LmCloudSpmdPipelineMultislice2BCircular";
  static constexpr std::string_view kDoc = "LmCloudSpmdPipelineMultislice2B with three turns through its stages.";
  LmCloudSpmdPipelineMultislice2BCircular() {
    MICROBATCH_SIZE = 8;
    CIRCULAR_REPEAT = 3;
  }
};

void register_lm_cloud(config::Registry& registry) {
  registry.add<LmCloudTransformerAdam>();
  registry.add<LmCloudTransformerAdamTest>();
  registry.add<LmCloudTransformerAdamLimitSteps>();
  registry.add<LmCloudSpmdTest>();
  registry.add<LmCloudSpmd2B>();
  registry.add<LmCloudSpmd2BLimitSteps>();
  registry.add<LmCloudSpmd32B>();
  registry.add<LmCloudSpmd64B>();
  registry.add<LmCloudSpmd128B>();
  registry.add<LmCloudSpmd256B>();
  registry.add<LmCloudSpmd512B>();
  registry.add<LmCloudSpmd1024B>();
  registry.add<LmCloudSpmdMultislice2B>();
  registry.add<LmCloudSpmdPipeline9B>();
  registry.add<LmCloudSpmdPipeline175B>();
  registry.add<LmCloudSpmdPipelineMultislice2B>();
  registry.add<LmCloudSpmdPipelineMultislice2BCircular>();
}

}  // namespace pax
