#pragma once

#include "pax/experiments/lm/spmd_constants.h"

namespace pax {

/// paxml.tasks.lm.params.c4: the C4 language models with Adam. Their data is synthetic until an input is set.
struct C4SpmdAdam : LmSpmdConstants {
  C4SpmdAdam() {
    NUM_LAYERS = 24;
    NUM_HEADS = 32;
    DIMS_PER_HEAD.reset();
    MODEL_DIMS = 2048;
    HIDDEN_DIMS = 8192;
    VOCAB_SIZE = 32128;
    FPROP_DTYPE = DType::kF32;
    ACTIVATION_CLS = ActivationClass::kGELU;
    CHECKPOINT_POLICY = AutodiffCheckpointType::kSaveDotForMlperf200B;
    LEARNING_RATE = 1e-3;
    CHECKPOINT_EVERY_N_STEPS = 1000;
    PERCORE_BATCH_SIZE = 1;
    ICI_MESH_SHAPE = {1, 4, 2};
  }
};

/// What the 1B to 32B models have in common: repeated layers, bfloat16, full remat.
struct C4SpmdRepeated : C4SpmdAdam {
  C4SpmdRepeated() {
    NUM_HEADS.reset();
    DIMS_PER_HEAD = 128;
    VOCAB_SIZE = 32000;
    FPROP_DTYPE = DType::kBF16;
    USE_REPEATED_LAYER = true;
    CHECKPOINT_POLICY = AutodiffCheckpointType::kSaveNothing;
    SUMMARY_INTERVAL_STEPS = 10;
  }
};

struct C4Spmd1BAdam4Replicas : C4SpmdRepeated {
  using Product = Preset<C4Spmd1BAdam4Replicas>;
  static constexpr std::string_view kName = "lm.c4.C4Spmd1BAdam4Replicas";
  static constexpr std::string_view kDoc = "1.1B parameters on 4 chips, batch 128.";
  C4Spmd1BAdam4Replicas() {
    NUM_LAYERS = 13;
    MODEL_DIMS = 2560;
    HIDDEN_DIMS = 10240;
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
    PERCORE_BATCH_SIZE = 16;
    ICI_MESH_SHAPE = {1, 16, 2};
  }
};

}  // namespace pax
