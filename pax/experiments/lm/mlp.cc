#include "pax/config/registry.h"
#include "pax/data/synthetic_input.h"
#include "pax/experiments/lm/registry.h"
#include "pax/experiments/lm/spmd_constants.h"
#include "pax/layers/split_dims.h"
#include "pax/task/models/classification_model.h"

// The feed-forward models of paxml.tasks.lm.params.lm_cloud (model_params.ClassificationModelAdam).

namespace pax {

struct MlpConstants {
  int64_t NUM_LAYER = 8;
  int64_t INPUT_DIM = 4096;
  int64_t HIDDEN_DIM = 7168;
  int64_t OUTPUT_DIM = 4096;
  double LEARNING_RATE = 1e-3;
  double WEIGHT_DECAY = 1e-3;
  int64_t CHECKPOINT_EVERY_N_STEPS = 5;
  int64_t SUMMARY_INTERVAL_STEPS = 5;
  double NUM_TRAIN_STEPS = 10;
  std::vector<int64_t> MESH_SHAPE{8, 1, 1};
  double PERCORE_BATCH_SIZE = 16;
  int64_t MAX_SEQ_LEN = 1024;
  static void fields(MlpConstants& self, config::FieldVisitor& visit) {
    visit("NUM_LAYER", self.NUM_LAYER, {.min = 1});
    visit("INPUT_DIM", self.INPUT_DIM, {.doc = "Also the number of classes.", .min = 1});
    visit("HIDDEN_DIM", self.HIDDEN_DIM, {.min = 1});
    visit("OUTPUT_DIM", self.OUTPUT_DIM, {.min = 1});
    visit("LEARNING_RATE", self.LEARNING_RATE);
    visit("WEIGHT_DECAY", self.WEIGHT_DECAY);
    visit("CHECKPOINT_EVERY_N_STEPS", self.CHECKPOINT_EVERY_N_STEPS, {.min = 1});
    visit("SUMMARY_INTERVAL_STEPS", self.SUMMARY_INTERVAL_STEPS, {.min = 1});
    visit("NUM_TRAIN_STEPS", self.NUM_TRAIN_STEPS, {.min = 0});
    visit("MESH_SHAPE", self.MESH_SHAPE, {.doc = "Devices along replica, data, mdl.", .min = 1});
    visit("PERCORE_BATCH_SIZE", self.PERCORE_BATCH_SIZE, {.min = 0});
    visit("MAX_SEQ_LEN", self.MAX_SEQ_LEN, {.min = 1});
  }
  void validate(config::Errors& errors) const {
    if (OUTPUT_DIM != INPUT_DIM) errors.add("OUTPUT_DIM", "must equal INPUT_DIM: the softmax takes it");
    run_constants().validate(errors);
  }
  ExperimentConfig experiment() const {
    ExperimentConfig config = run_constants().experiment();
    config.task.name = "classification_task";
    ClassificationMLPModel::Config model;
    model.name = "classification_model";
    model.mlp_tpl.set("ff_tpl.input_dims", INPUT_DIM);
    model.mlp_tpl.set("ff_tpl.output_dims", OUTPUT_DIM);
    model.mlp_tpl.set("hidden_dims", HIDDEN_DIM);
    model.mlp_tpl.set("num_layers", NUM_LAYER);
    model.softmax_tpl.set("input_dims", INPUT_DIM);
    model.softmax_tpl.set("num_classes", INPUT_DIM);
    model.mlp_tpl.set("ici_mesh_shape", MESH_SHAPE);
    model.mesh_axis_names = {"replica", "data", "mdl"};
    model.ici_mesh_shape = MESH_SHAPE;
    set_weight_split(model.mlp_tpl, "wt", {{}, {}});
    set_weight_split(model.softmax_tpl, "wt", {{}, {}});
    config.task.model = model;
    return config;
  }

 private:
  /// Learner, run and data are those of the language models.
  LmSpmdConstants run_constants() const {
    LmSpmdConstants constants;
    constants.LEARNING_RATE = LEARNING_RATE;
    constants.WEIGHT_DECAY = WEIGHT_DECAY;
    constants.CHECKPOINT_EVERY_N_STEPS = CHECKPOINT_EVERY_N_STEPS;
    constants.SUMMARY_INTERVAL_STEPS = SUMMARY_INTERVAL_STEPS;
    constants.NUM_TRAIN_STEPS = NUM_TRAIN_STEPS;
    constants.ICI_MESH_SHAPE = MESH_SHAPE;
    constants.PERCORE_BATCH_SIZE = PERCORE_BATCH_SIZE;
    constants.MAX_SEQ_LEN = MAX_SEQ_LEN;
    return constants;
  }
};

struct LargeMlp : MlpConstants {
  using Product = Preset<LargeMlp>;
  static constexpr std::string_view kName = "lm.lm_cloud.LargeMlp";
  static constexpr std::string_view kDoc = "Eight feed-forward layers of width 7168, on 8 chips.";
};

struct SmallMlp : MlpConstants {
  using Product = Preset<SmallMlp>;
  static constexpr std::string_view kName = "lm.lm_cloud.SmallMlp";
  static constexpr std::string_view kDoc = "Eight feed-forward layers of width 1024, on 8 chips.";
  SmallMlp() {
    INPUT_DIM = 1024;
    OUTPUT_DIM = 1024;
    HIDDEN_DIM = 1024;
  }
};

void register_mlp(config::Registry& registry) {
  registry.add<LargeMlp>();
  registry.add<SmallMlp>();
}

}  // namespace pax
