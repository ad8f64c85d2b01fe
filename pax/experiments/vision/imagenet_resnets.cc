#include "pax/config/registry.h"
#include "pax/experiments/vision/registry.h"
#include "pax/experiments/vision/synthetic_images.h"
#include "pax/layers/softmax/full_softmax.h"
#include "pax/layers/vision/resnet.h"
#include "pax/optim/ramp_schedules.h"
#include "pax/optim/sgd.h"
#include "pax/task/models/classification_model.h"
#include "pax/trainer/experiment.h"

// paxml.tasks.vision.params.imagenet_resnets, on synthetic images until an input is set.

namespace pax {

struct ResNet50Pjit {
  using Product = Preset<ResNet50Pjit>;
  static constexpr std::string_view kName = "vision.imagenet_resnets.ResNet50Pjit";
  static constexpr std::string_view kDoc = "25.6M parameters: ResNet-50 on 8 chips, batch 512.";
  static constexpr int64_t kTrainExamples = 1'281'167;
  int64_t IMAGE_SIZE = 224;
  int64_t TRAIN_BATCH_SIZE = 512;
  int64_t NUM_EPOCHS = 90;
  std::optional<double> LEARNING_RATE;
  double L2_REGULARIZER_WEIGHT = 1e-4;
  double CLIP_GRADIENT_NORM_TO_VALUE = 0.0;
  double EMA_DECAY = 0.0;
  int64_t SAVE_MAX_TO_KEEP = 1000;
  int64_t SAVE_INTERVAL_STEPS = 5000;
  int64_t SUMMARY_INTERVAL_STEPS = 1000;
  std::vector<int64_t> MESH_SHAPE{1, 8, 1};

  static void fields(ResNet50Pjit& self, config::FieldVisitor& visit) {
    visit("IMAGE_SIZE", self.IMAGE_SIZE, {.min = 32, .max = 10000});
    visit("TRAIN_BATCH_SIZE", self.TRAIN_BATCH_SIZE, {.min = 1, .max = 1000000});
    visit("NUM_EPOCHS", self.NUM_EPOCHS, {.min = 1});
    visit("LEARNING_RATE", self.LEARNING_RATE, "Unset: 0.1 for each 256 rows of the batch.");
    visit("L2_REGULARIZER_WEIGHT", self.L2_REGULARIZER_WEIGHT, {.min = 0});
    visit("CLIP_GRADIENT_NORM_TO_VALUE", self.CLIP_GRADIENT_NORM_TO_VALUE, {.min = 0});
    visit("EMA_DECAY", self.EMA_DECAY, {.min = 0, .max = 1});
    visit("SAVE_MAX_TO_KEEP", self.SAVE_MAX_TO_KEEP, {.min = 1});
    visit("SAVE_INTERVAL_STEPS", self.SAVE_INTERVAL_STEPS, {.min = 1});
    visit("SUMMARY_INTERVAL_STEPS", self.SUMMARY_INTERVAL_STEPS, {.min = 1});
    visit("MESH_SHAPE", self.MESH_SHAPE, {.doc = "Devices along replica, data, mdl.", .min = 1});
  }

  Tpl<Learner> learner(int64_t steps_per_epoch) const {
    LinearRampupPiecewiseConstant::Config schedule;
    for (const int64_t epoch : {5, 30, 60, 80, 90}) schedule.boundaries.push_back(epoch * steps_per_epoch);
    schedule.values = {1, 0.1, 0.01, 0.001, 0.0};
    Sgd::Config sgd;
    sgd.momentum = 0.9;
    sgd.nesterov = true;
    sgd.lr_schedule = schedule;
    sgd.learning_rate = LEARNING_RATE.value_or(0.1 * static_cast<double>(TRAIN_BATCH_SIZE) / 256);
    sgd.skip_lp_1d_vectors = true;
    sgd.l2_regularizer_weight = L2_REGULARIZER_WEIGHT;
    sgd.clip_gradient_norm_to_value = CLIP_GRADIENT_NORM_TO_VALUE;
    sgd.ema_decay = EMA_DECAY;
    Learner::Config learner;
    learner.loss_name = "avg_xent";
    learner.optimizer = sgd;
    return learner;
  }

  SingleTask task() const {
    ResNet::Config network = ResNet::Config::of_depth(50);
    network.block_params.set("zero_init_residual", true);
    FullSoftmax::Config softmax;
    softmax.params_init = WeightInit::gaussian(0.01);
    softmax.input_dims = network.channels.back();
    softmax.num_classes = 1000;
    ClassificationModel::Config model;
    model.name = "classifier";
    model.network_tpl = network;
    model.softmax_tpl = softmax;
    model.mesh_axis_names = {"replica", "data", "mdl"};
    model.ici_mesh_shape = MESH_SHAPE;
    const int64_t steps_per_epoch = std::max<int64_t>(kTrainExamples / TRAIN_BATCH_SIZE, 1);
    SingleTask task;
    task.name = "classifier_task";
    task.model = model;
    task.train.learner = learner(steps_per_epoch);
    task.train.num_train_steps = static_cast<double>(steps_per_epoch * NUM_EPOCHS);
    task.train.eval_interval_steps = steps_per_epoch;
    task.train.summary_interval_steps = SUMMARY_INTERVAL_STEPS;
    task.train.save_interval_steps = SAVE_INTERVAL_STEPS;
    task.train.save_max_to_keep = SAVE_MAX_TO_KEEP;
    task.train.batch_split = {"replica", "data"};
    task.train.eval_skip_train = true;
    return task;
  }

  ExperimentConfig experiment() const {
    SyntheticImages::Config input;
    input.name = "synthetic";
    input.batch_size = TRAIN_BATCH_SIZE;
    input.height = input.width = IMAGE_SIZE;
    input.channels = 3;
    input.num_classes = 1000;
    ExperimentConfig config;
    config.task = task();
    config.input = input;
    return config;
  }
};

void register_vision(config::Registry& registry) {
  registry.add<SyntheticImages::Config>();
  registry.add<ResNet50Pjit>();
}

}  // namespace pax
