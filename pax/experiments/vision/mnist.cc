#include "pax/config/registry.h"
#include "pax/experiments/vision/registry.h"
#include "pax/experiments/vision/synthetic_images.h"
#include "pax/layers/activations.h"
#include "pax/layers/convolutions/conv_bn_act.h"
#include "pax/layers/convolutions/poolings.h"
#include "pax/layers/linears.h"
#include "pax/ops/constant.h"
#include "pax/ops/convert.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/gather.h"
#include "pax/ops/logic.h"
#include "pax/ops/reduce.h"
#include "pax/ops/reshape.h"
#include "pax/optim/schedules.h"
#include "pax/optim/sgd.h"
#include "pax/task/base_model.h"
#include "pax/trainer/experiment.h"

// paxml.tasks.vision.params.mnist: a small convolutional classifier. Its images are synthetic until an input is set.

namespace pax {
namespace {

/// Two convolutions with pooling, two dense layers: [B, H, W, 1] -> [B, classes].
class CNN final : public Layer {
 public:
  struct Config : LayerConfig {
    using Product = CNN;
    static constexpr std::string_view kName = "paxml.tasks.vision.params.mnist.CNN";
    static constexpr std::string_view kDoc = "Two convolutions, two dense layers.";
    int64_t height = 28;
    int64_t width = 28;
    int64_t num_classes = 10;
    int64_t kernel_size = 3;
    Tpl<Layer> activation_tpl = ReLU::Config{};
    static void fields(auto& self, auto&& visit) {
      LayerConfig::fields(self, visit);
      visit("height", self.height, {.doc = "A multiple of 4.", .min = 4});
      visit("width", self.width, {.doc = "A multiple of 4.", .min = 4});
      visit("num_classes", self.num_classes, {.doc = "", .min = 1});
      visit("kernel_size", self.kernel_size, {.doc = "Of both convolutions.", .min = 1});
      visit("activation_tpl", self.activation_tpl);
    }
  };
  CNN(const Config& config, const Scope& scope)
      : Layer(config, scope),
        conv1_(child("conv1", convolution(config, 1, 32))),
        pooling1_(child("pooling1", pooling())),
        conv2_(child("conv2", convolution(config, 32, 64))),
        pooling2_(child("pooling2", pooling())) {
    FeedForward::Config hidden;
    hidden.input_dims = 4 * config.height * config.width;
    hidden.output_dims = 256;
    hidden.activation_tpl = config.activation_tpl.clone();
    dense_0_ = child("dense_0", hidden);
    Linear::Config linear;
    linear.input_dims = 256;
    linear.output_dims = config.num_classes;
    dense_1_ = child("dense_1", linear);
    Bias::Config bias;
    bias.dims = config.num_classes;
    dense_2_ = child("dense_2", bias);
  }

  Tensor fprop(Tensor x) const override {
    x = pooling1_->fprop(conv1_->fprop(x));
    x = pooling2_->fprop(conv2_->fprop(x));
    x = reshape(x, {x.dim(0), x.dim(1) * x.dim(2) * x.dim(3)});
    return dense_2_->fprop(dense_1_->fprop(dense_0_->fprop(x)));
  }

 private:
  static ConvBNAct::Config convolution(const Config& config, int64_t in, int64_t out) {
    ConvBNAct::Config conv;
    conv.filter_shape = {config.kernel_size, config.kernel_size, in, out};
    conv.filter_stride = {1, 1};
    conv.bias = true;
    conv.batch_norm_tpl = nullptr;
    conv.activation_tpl = config.activation_tpl.clone();
    return conv;
  }
  static Pooling::Config pooling() {
    Pooling::Config out;
    out.window_shape = out.window_stride = {2, 2};
    out.pooling_type = PoolingType::kAvg;
    return out;
  }

  Child<ConvBNAct> conv1_;
  Child<Pooling> pooling1_;
  Child<ConvBNAct> conv2_;
  Child<Pooling> pooling2_;
  Child<FeedForward> dense_0_;
  Child<Linear> dense_1_;
  Child<Bias> dense_2_;
};

/// Mean cross-entropy and accuracy of a network. Batch: `inputs` [B, H, W, C], `labels` [B].
class CNNModel final : public BaseModel {
 public:
  struct Config : LayerConfig {
    using Product = CNNModel;
    static constexpr std::string_view kName = "paxml.tasks.vision.params.mnist.CNNModel";
    static constexpr std::string_view kDoc = "Classifier of images by cross-entropy.";
    Tpl<Layer> network_tpl = CNN::Config{};
    static void fields(auto& self, auto&& visit) {
      LayerConfig::fields(self, visit);
      visit("network_tpl", self.network_tpl, "From images to logits.");
    }
  };
  CNNModel(const Config& config, const Scope& scope)
      : BaseModel(config, scope), network_(child("network", config.network_tpl)) {}

  ModelOutput compute_loss(const Tree<Tensor>& batch) const override {
    const auto images = batch.find("inputs"), ids = batch.find("labels");
    if (images == batch.end() || ids == batch.end()) fail("the model needs fields \"inputs\" and \"labels\"");
    const Tensor logits = convert(network_->fprop(images->second), DType::kF32);
    const Tensor labels = convert(ids->second, DType::kS32);
    const Tensor likelihood = one_hot(labels, logits.dim(-1), DType::kF32) * log_softmax(logits);
    const Tensor one = full(graph(), {DType::kF32, {}}, 1);
    ModelOutput output;
    output.metrics["loss"] = {-reduce_mean(reduce_sum(likelihood, {1})), one};
    output.metrics["accuracy"] = {
        reduce_mean(convert(eq(labels, convert(argmax(logits, 1), DType::kS32)), DType::kF32)), one};
    output.per_example["predictions"] = logits;
    return output;
  }

 private:
  Child<Layer> network_;
};

struct MnistExperiment {
  using Product = Preset<MnistExperiment>;
  static constexpr std::string_view kName = "vision.mnist.MnistExperiment";
  static constexpr std::string_view kDoc = "0.8M parameters: a convolutional classifier of small images, batch 1024.";
  int64_t BATCH_SIZE = 1024;
  double MOMENTUM = 0.1;
  double LEARNING_RATE = 0.01;
  int64_t TRAIN_STEPS = 1000;
  int64_t HEIGHT = 28;
  int64_t WIDTH = 28;
  int64_t NUM_CLASSES = 10;
  int64_t KERNEL_SIZE = 3;
  std::vector<int64_t> ICI_MESH_SHAPE{1, 1, 1};
  static void fields(MnistExperiment& self, config::FieldVisitor& visit) {
    visit("BATCH_SIZE", self.BATCH_SIZE, {.min = 1});
    visit("MOMENTUM", self.MOMENTUM, {.min = 0, .max = 1});
    visit("LEARNING_RATE", self.LEARNING_RATE);
    visit("TRAIN_STEPS", self.TRAIN_STEPS, {.min = 0});
    visit("HEIGHT", self.HEIGHT, {.min = 4});
    visit("WIDTH", self.WIDTH, {.min = 4});
    visit("NUM_CLASSES", self.NUM_CLASSES, {.min = 1});
    visit("KERNEL_SIZE", self.KERNEL_SIZE, {.min = 1});
    visit("ICI_MESH_SHAPE", self.ICI_MESH_SHAPE, {.doc = "Devices along replica, data, mdl.", .min = 1});
  }
  void validate(config::Errors& errors) const {
    if (HEIGHT % 4 != 0 || WIDTH % 4 != 0)
      errors.add("HEIGHT", "and WIDTH must be multiples of 4: both are pooled twice");
  }

  ExperimentConfig experiment() const {
    CNN::Config network;
    network.name = "mnist_model";
    network.height = HEIGHT;
    network.width = WIDTH;
    network.num_classes = NUM_CLASSES;
    network.kernel_size = KERNEL_SIZE;
    CNNModel::Config model;
    model.network_tpl = network;
    model.mesh_axis_names = {"replica", "data", "mdl"};
    model.ici_mesh_shape = ICI_MESH_SHAPE;
    Sgd::Config sgd;
    sgd.momentum = MOMENTUM;
    sgd.learning_rate = LEARNING_RATE;
    sgd.lr_schedule = ConstantSchedule::Config{};
    Learner::Config learner;
    learner.loss_name = "loss";
    learner.optimizer = sgd;
    SyntheticImages::Config input;
    input.name = "synthetic";
    input.batch_size = BATCH_SIZE;
    input.height = HEIGHT;
    input.width = WIDTH;
    input.num_classes = NUM_CLASSES;
    input.field_names = ImageFields::kIds;
    ExperimentConfig config;
    config.task.name = "mnist_task";
    config.task.model = model;
    config.task.train.learner = learner;
    config.task.train.num_train_steps = static_cast<double>(TRAIN_STEPS);
    config.task.train.eval_skip_train = true;
    config.task.train.batch_split = {"replica", "data"};
    config.input = input;
    return config;
  }
};

}  // namespace

void register_mnist(config::Registry& registry) {
  registry.add<CNN::Config>();
  registry.add<CNNModel::Config>();
  registry.add<MnistExperiment>();
}

}  // namespace pax
