#include "pax/config/registry.h"
#include "pax/experiments/lm/registry.h"
#include "pax/experiments/lm/task_parts.h"
#include "pax/task/models/bert_model.h"

// paxml.tasks.lm.params.bert: models that find hidden tokens. Their data is synthetic until an input is set.

namespace pax {

struct BertConstants : LmSpmdConstants {
  int64_t MASK_TOKEN_ID = 0;
  std::optional<double> LABEL_SMOOTHING_PROB;
  BertConstants() {
    NUM_LAYERS = 32;
    NUM_HEADS = 16;
    DIMS_PER_HEAD.reset();
    MODEL_DIMS = 1024;
    HIDDEN_DIMS = 4096;
    LEARNING_RATE = 1e-3;
    USE_ADAFACTOR = true;
    LR_LRED_DECAY_END = 100000;
    CHECKPOINT_POLICY = AutodiffCheckpointType::kSaveDotWithNoBatchDim;
    CHECKPOINT_EVERY_N_STEPS = 500;
    MAX_SEQ_LEN = 512;
    DCN_MESH_SHAPE.clear();
  }
  static void fields(BertConstants& self, config::FieldVisitor& visit) {
    LmSpmdConstants::fields(self, visit);
    visit("MASK_TOKEN_ID", self.MASK_TOKEN_ID, {.min = 0});
    visit("LABEL_SMOOTHING_PROB", self.LABEL_SMOOTHING_PROB, {.min = 0, .max = 1});
  }
  SingleTask task() const override;
  /// Synthetic rows hide no tokens, and evaluation does not draw which to hide: there is none until an input is set.
  ExperimentConfig experiment() const override {
    ExperimentConfig config = LmSpmdConstants::experiment();
    config.eval_inputs.clear();
    return config;
  }
};

SingleTask BertConstants::task() const {
  SingleTask task = LmSpmdConstants::task();
  block_of(task).set("dim_per_head", nullptr);  // always MODEL_DIMS / NUM_HEADS
  task.name = "bert_task";
  BertModel::Config bert;
  bert.name = "bert_lm";
  bert.lm_tpl = task.model.get<Tpl<LanguageModelLayer>>("lm_tpl");
  bert.lm_tpl.set("model_type", LanguageModelType::kBidirectional);
  bert.mask_token_id = MASK_TOKEN_ID;
  bert.label_smoothing_prob = LABEL_SMOOTHING_PROB;
  Tpl<BaseModel> model = bert;
  using Sizes = std::optional<std::vector<int64_t>>;
  model.set("fprop_dtype", task.model.get<std::optional<DType>>("fprop_dtype"));
  model.set("mesh_axis_names", task.model.get<std::optional<std::vector<std::string>>>("mesh_axis_names"));
  model.set("ici_mesh_shape", task.model.get<Sizes>("ici_mesh_shape"));
  model.set("dcn_mesh_shape", task.model.get<Sizes>("dcn_mesh_shape"));
  task.model = model;
  return task;
}

struct BertAdamL4H128 : BertConstants {
  using Product = Preset<BertAdamL4H128>;
  static constexpr std::string_view kName = "lm.bert.BertAdamL4H128";
  static constexpr std::string_view kDoc = "4.9M parameters, four layers of width 128, no mesh.";
  BertAdamL4H128() {
    NUM_LAYERS = 4;
    NUM_HEADS = 8;
    MODEL_DIMS = 128;
    HIDDEN_DIMS = 512;
    COMBINE_QKV = false;
    USE_ADAFACTOR = false;
    CHECKPOINT_EVERY_N_STEPS = 5000;
    PERCORE_BATCH_SIZE = 8;
    LR_LRED_DECAY_END = 300000;
  }
};

struct BertSpmdL4H128 : BertConstants {
  using Product = Preset<BertSpmdL4H128>;
  static constexpr std::string_view kName = "lm.bert.BertSpmdL4H128";
  static constexpr std::string_view kDoc = "4.9M parameters, four layers of width 128, on 8 chips, batch 32.";
  BertSpmdL4H128() {
    NUM_LAYERS = 4;
    NUM_HEADS = 8;
    MODEL_DIMS = 128;
    HIDDEN_DIMS = 512;
    DIMS_PER_HEAD = 16;
    LEARNING_RATE = 0.00025;
    ICI_MESH_SHAPE = {1, 4, 2};
    CHECKPOINT_EVERY_N_STEPS = 5000;
    PERCORE_BATCH_SIZE = 4;
  }
};

struct BertSpmdL33H12kBiggerBatch : BertConstants {
  using Product = Preset<BertSpmdL33H12kBiggerBatch>;
  static constexpr std::string_view kName = "lm.bert.BertSpmdL33H12kBiggerBatch";
  static constexpr std::string_view kDoc = "100B parameters on 512 chips, batch 2048.";
  BertSpmdL33H12kBiggerBatch() {
    NUM_LAYERS = 33;
    MODEL_DIMS = 12288;
    DIMS_PER_HEAD = 96;
    NUM_HEADS = 128;
    HIDDEN_DIMS = 98304;
    LEARNING_RATE = 0.00025;
    WEIGHT_DECAY = 0.01;
    LABEL_SMOOTHING_PROB = 0.1;
    ICI_MESH_SHAPE = {1, 64, 8};
    CHECKPOINT_EVERY_N_STEPS = 1000;
    PERCORE_BATCH_SIZE = 4;
  }
};

struct BertSpmdL33H12kBiggerBatch8x8x16 : BertSpmdL33H12kBiggerBatch {
  using Product = Preset<BertSpmdL33H12kBiggerBatch8x8x16>;
  static constexpr std::string_view kName = "lm.bert.BertSpmdL33H12kBiggerBatch8x8x16";
  static constexpr std::string_view kDoc = "100B parameters on 1024 chips, batch 4096.";
  BertSpmdL33H12kBiggerBatch8x8x16() {
    ICI_MESH_SHAPE = {1, 64, 16};
    CHECKPOINT_EVERY_N_STEPS = 500;
  }
};

struct BertSpmdL66H12kBiggerBatch8x8x16 : BertSpmdL33H12kBiggerBatch {
  using Product = Preset<BertSpmdL66H12kBiggerBatch8x8x16>;
  static constexpr std::string_view kName = "lm.bert.BertSpmdL66H12kBiggerBatch8x8x16";
  static constexpr std::string_view kDoc = "200B parameters on 1024 chips, batch 4096.";
  BertSpmdL66H12kBiggerBatch8x8x16() {
    NUM_LAYERS = 66;
    ICI_MESH_SHAPE = {1, 64, 16};
    CHECKPOINT_POLICY = AutodiffCheckpointType::kSaveDotForMlperf200B;
    CHECKPOINT_EVERY_N_STEPS = 200;
    CHECKPOINT_MAX_TO_KEEP = 20;
  }
};

struct BertSpmdL66H12kBiggerBatch8x8x8 : BertSpmdL66H12kBiggerBatch8x8x16 {
  using Product = Preset<BertSpmdL66H12kBiggerBatch8x8x8>;
  static constexpr std::string_view kName = "lm.bert.BertSpmdL66H12kBiggerBatch8x8x8";
  static constexpr std::string_view kDoc = "200B parameters on 512 chips, batch 512.";
  BertSpmdL66H12kBiggerBatch8x8x8() {
    PERCORE_BATCH_SIZE = 1;
    ICI_MESH_SHAPE = {1, 64, 8};
  }
};

void register_bert(config::Registry& registry) {
  registry.add<BertAdamL4H128>();
  registry.add<BertSpmdL4H128>();
  registry.add<BertSpmdL33H12kBiggerBatch>();
  registry.add<BertSpmdL33H12kBiggerBatch8x8x16>();
  registry.add<BertSpmdL66H12kBiggerBatch8x8x16>();
  registry.add<BertSpmdL66H12kBiggerBatch8x8x8>();
}

}  // namespace pax
