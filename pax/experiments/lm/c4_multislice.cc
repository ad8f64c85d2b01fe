#include "pax/config/registry.h"
#include "pax/experiments/lm/c4.h"
#include "pax/experiments/lm/registry.h"

// paxml.tasks.lm.params.c4_multislice: models over several slices.

namespace pax {

struct C4Spmd22BAdamMaxText : C4SpmdRepeated {
  using Product = Preset<C4Spmd22BAdamMaxText>;
  static constexpr std::string_view kName = "lm.c4_multislice.C4Spmd22BAdamMaxText";
  static constexpr std::string_view kDoc = "21.9B parameters on 8 chips, batch 128: the model of MaxText's comparison.";
  C4Spmd22BAdamMaxText() {
    NUM_LAYERS = 48;
    MODEL_DIMS = 6144;
    HIDDEN_DIMS = 24576;
    NUM_HEADS = 24;
    DIMS_PER_HEAD = 256;
    PERCORE_BATCH_SIZE = 16;
    VOCAB_SIZE = 32768;
  }
};

struct C4Spmd22BAdam1xv4_128 : C4Spmd22BAdamMaxText {
  using Product = Preset<C4Spmd22BAdam1xv4_128>;
  static constexpr std::string_view kName = "lm.c4_multislice.C4Spmd22BAdam1xv4_128";
  static constexpr std::string_view kDoc = "21.9B parameters on a slice of 64 chips, batch 1024.";
  C4Spmd22BAdam1xv4_128() { ICI_MESH_SHAPE = {1, 64, 1}; }
};

struct C4Spmd22BAdam2xv4_128 : C4Spmd22BAdam1xv4_128 {
  using Product = Preset<C4Spmd22BAdam2xv4_128>;
  static constexpr std::string_view kName = "lm.c4_multislice.C4Spmd22BAdam2xv4_128";
  static constexpr std::string_view kDoc = "21.9B parameters on 2 slices of 64 chips, batch 2048.";
  C4Spmd22BAdam2xv4_128() { DCN_MESH_SHAPE = {2, 1, 1}; }
};

struct C4Spmd22BAdam4xv4_128 : C4Spmd22BAdam1xv4_128 {
  using Product = Preset<C4Spmd22BAdam4xv4_128>;
  static constexpr std::string_view kName = "lm.c4_multislice.C4Spmd22BAdam4xv4_128";
  static constexpr std::string_view kDoc = "21.9B parameters on 4 slices of 64 chips, batch 4096.";
  C4Spmd22BAdam4xv4_128() { DCN_MESH_SHAPE = {4, 1, 1}; }
};

struct C4Spmd22BAdam1xv4_128LimitSteps : C4Spmd22BAdam1xv4_128 {
  using Product = Preset<C4Spmd22BAdam1xv4_128LimitSteps>;
  static constexpr std::string_view kName = "lm.c4_multislice.C4Spmd22BAdam1xv4_128LimitSteps";
  static constexpr std::string_view kDoc = "C4Spmd22BAdam1xv4_128 for 300 steps.";
  C4Spmd22BAdam1xv4_128LimitSteps() { NUM_TRAIN_STEPS = 300; }
};

struct C4Spmd22BAdam2xv4_128LimitSteps : C4Spmd22BAdam2xv4_128 {
  using Product = Preset<C4Spmd22BAdam2xv4_128LimitSteps>;
  static constexpr std::string_view kName = "lm.c4_multislice.C4Spmd22BAdam2xv4_128LimitSteps";
  static constexpr std::string_view kDoc = "C4Spmd22BAdam2xv4_128 for 300 steps.";
  C4Spmd22BAdam2xv4_128LimitSteps() { NUM_TRAIN_STEPS = 300; }
};

struct C4Spmd22BAdam4xv4_128LimitSteps : C4Spmd22BAdam4xv4_128 {
  using Product = Preset<C4Spmd22BAdam4xv4_128LimitSteps>;
  static constexpr std::string_view kName = "lm.c4_multislice.C4Spmd22BAdam4xv4_128LimitSteps";
  static constexpr std::string_view kDoc = "C4Spmd22BAdam4xv4_128 for 300 steps.";
  C4Spmd22BAdam4xv4_128LimitSteps() { NUM_TRAIN_STEPS = 300; }
};

struct C4Spmd22BAdam1xv4_384 : C4Spmd22BAdamMaxText {
  using Product = Preset<C4Spmd22BAdam1xv4_384>;
  static constexpr std::string_view kName = "lm.c4_multislice.C4Spmd22BAdam1xv4_384";
  static constexpr std::string_view kDoc = "24.8B parameters on a slice of 192 chips, batch 1920.";
  C4Spmd22BAdam1xv4_384() {
    NUM_LAYERS = 24;
    MODEL_DIMS = 9216;
    HIDDEN_DIMS = 36864;
    DIMS_PER_HEAD = 384;
    PERCORE_BATCH_SIZE = 10;
    ICI_MESH_SHAPE = {1, 192, 1};
  }
};

struct C4Spmd22BAdam2xv4_384 : C4Spmd22BAdam1xv4_384 {
  using Product = Preset<C4Spmd22BAdam2xv4_384>;
  static constexpr std::string_view kName = "lm.c4_multislice.C4Spmd22BAdam2xv4_384";
  static constexpr std::string_view kDoc = "24.8B parameters on two slices of 192 chips, batch 3840.";
  C4Spmd22BAdam2xv4_384() { DCN_MESH_SHAPE = {2, 1, 1}; }
};

struct C4Spmd22BAdam1xv4_8 : C4Spmd22BAdamMaxText {
  using Product = Preset<C4Spmd22BAdam1xv4_8>;
  static constexpr std::string_view kName = "lm.c4_multislice.C4Spmd22BAdam1xv4_8";
  static constexpr std::string_view kDoc = "0.87B parameters on a slice of 4 chips, batch 64.";
  C4Spmd22BAdam1xv4_8() {
    NUM_LAYERS = 16;
    MODEL_DIMS = 2048;
    HIDDEN_DIMS = 8192;
    NUM_HEADS = 8;
    ICI_MESH_SHAPE = {1, 4, 1};
  }
};

struct C4Spmd22BAdam2xv4_8 : C4Spmd22BAdam1xv4_8 {
  using Product = Preset<C4Spmd22BAdam2xv4_8>;
  static constexpr std::string_view kName = "lm.c4_multislice.C4Spmd22BAdam2xv4_8";
  static constexpr std::string_view kDoc = "0.87B parameters on 2 slices of 4 chips, batch 128.";
  C4Spmd22BAdam2xv4_8() { DCN_MESH_SHAPE = {2, 1, 1}; }
};

struct C4Spmd22BAdam4xv4_8 : C4Spmd22BAdam1xv4_8 {
  using Product = Preset<C4Spmd22BAdam4xv4_8>;
  static constexpr std::string_view kName = "lm.c4_multislice.C4Spmd22BAdam4xv4_8";
  static constexpr std::string_view kDoc = "0.87B parameters on 4 slices of 4 chips, batch 256.";
  C4Spmd22BAdam4xv4_8() { DCN_MESH_SHAPE = {4, 1, 1}; }
};

struct C4Spmd22BAdam1xv4_8LimitSteps : C4Spmd22BAdam1xv4_8 {
  using Product = Preset<C4Spmd22BAdam1xv4_8LimitSteps>;
  static constexpr std::string_view kName = "lm.c4_multislice.C4Spmd22BAdam1xv4_8LimitSteps";
  static constexpr std::string_view kDoc = "C4Spmd22BAdam1xv4_8 for 300 steps.";
  C4Spmd22BAdam1xv4_8LimitSteps() { NUM_TRAIN_STEPS = 300; }
};

struct C4Spmd22BAdam2xv4_8LimitSteps : C4Spmd22BAdam2xv4_8 {
  using Product = Preset<C4Spmd22BAdam2xv4_8LimitSteps>;
  static constexpr std::string_view kName = "lm.c4_multislice.C4Spmd22BAdam2xv4_8LimitSteps";
  static constexpr std::string_view kDoc = "C4Spmd22BAdam2xv4_8 for 300 steps.";
  C4Spmd22BAdam2xv4_8LimitSteps() { NUM_TRAIN_STEPS = 300; }
};

struct C4Spmd22BAdam4xv4_8LimitSteps : C4Spmd22BAdam4xv4_8 {
  using Product = Preset<C4Spmd22BAdam4xv4_8LimitSteps>;
  static constexpr std::string_view kName = "lm.c4_multislice.C4Spmd22BAdam4xv4_8LimitSteps";
  static constexpr std::string_view kDoc = "C4Spmd22BAdam4xv4_8 for 300 steps.";
  C4Spmd22BAdam4xv4_8LimitSteps() { NUM_TRAIN_STEPS = 300; }
};

struct C4Spmd32BAdam1xv5_256 : C4Spmd22BAdam1xv4_128 {
  using Product = Preset<C4Spmd32BAdam1xv5_256>;
  static constexpr std::string_view kName = "lm.c4_multislice.C4Spmd32BAdam1xv5_256";
  static constexpr std::string_view kDoc = "32.5B parameters on a slice of 128 chips, batch 256 of 2048.";
  C4Spmd32BAdam1xv5_256() {
    NUM_LAYERS = 40;
    MODEL_DIMS = 8192;
    HIDDEN_DIMS = 32768;
    NUM_HEADS = 32;
    PERCORE_BATCH_SIZE = 2;
    MAX_SEQ_LEN = 2048;
    ICI_MESH_SHAPE = {1, 128, 1};
  }
};

struct C4Spmd32BAdam2xv5_256 : C4Spmd32BAdam1xv5_256 {
  using Product = Preset<C4Spmd32BAdam2xv5_256>;
  static constexpr std::string_view kName = "lm.c4_multislice.C4Spmd32BAdam2xv5_256";
  static constexpr std::string_view kDoc = "32.5B parameters on two slices of 128 chips, batch 512 of 2048.";
  C4Spmd32BAdam2xv5_256() { DCN_MESH_SHAPE = {2, 1, 1}; }
};

struct C4SpmdGpt3AdamDataParallel2x16x16 : C4SpmdGpt3AdamOrgHP {
  using Product = Preset<C4SpmdGpt3AdamDataParallel2x16x16>;
  static constexpr std::string_view kName = "lm.c4_multislice.C4SpmdGpt3AdamDataParallel2x16x16";
  static constexpr std::string_view kDoc = "GPT-3 175B on two slices of 256 chips, batch 256, for 100 steps.";
  C4SpmdGpt3AdamDataParallel2x16x16() {
    PERCORE_BATCH_SIZE = 0.5;
    ICI_MESH_SHAPE = {1, 16, 16};
    DCN_MESH_SHAPE = {2, 1, 1};
    FPROP_DTYPE = DType::kBF16;
    CHECKPOINT_EVERY_N_STEPS = 2000;
    NUM_TRAIN_STEPS = 100;
  }
  SingleTask task() const override {
    SingleTask task = C4SpmdGpt3AdamOrgHP::task();
    task.summary_verbosity = 0;
    return task;
  }
};

void register_c4_multislice(config::Registry& registry) {
  registry.add<C4Spmd22BAdamMaxText>();
  registry.add<C4Spmd22BAdam1xv4_128>();
  registry.add<C4Spmd22BAdam2xv4_128>();
  registry.add<C4Spmd22BAdam4xv4_128>();
  registry.add<C4Spmd22BAdam1xv4_128LimitSteps>();
  registry.add<C4Spmd22BAdam2xv4_128LimitSteps>();
  registry.add<C4Spmd22BAdam4xv4_128LimitSteps>();
  registry.add<C4Spmd22BAdam1xv4_384>();
  registry.add<C4Spmd22BAdam2xv4_384>();
  registry.add<C4Spmd22BAdam1xv4_8>();
  registry.add<C4Spmd22BAdam2xv4_8>();
  registry.add<C4Spmd22BAdam4xv4_8>();
  registry.add<C4Spmd22BAdam1xv4_8LimitSteps>();
  registry.add<C4Spmd22BAdam2xv4_8LimitSteps>();
  registry.add<C4Spmd22BAdam4xv4_8LimitSteps>();
  registry.add<C4Spmd32BAdam1xv5_256>();
  registry.add<C4Spmd32BAdam2xv5_256>();
  registry.add<C4SpmdGpt3AdamDataParallel2x16x16>();
}

}  // namespace pax
