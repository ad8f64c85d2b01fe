#pragma once

#include "pax/experiments/lm/spmd_constants.h"

namespace pax {

/// paxml.tasks.lm.params.lm_cloud: language models on synthetic data.
struct LmCloudSpmd : LmSpmdConstants {
  LmCloudSpmd() {
    ACTIVATION_CLS = ActivationClass::kGELU;
    USE_REPEATED_LAYER = true;
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
  static constexpr std::string_view kDoc = "2.1B parameters on 4 chips.";
  LmCloudSpmd2B() {
    PERCORE_BATCH_SIZE = 8;
    NUM_LAYERS = 18;
    MODEL_DIMS = 3072;
    HIDDEN_DIMS = 12288;
    ICI_MESH_SHAPE = {1, 4, 1};
  }
};

}  // namespace pax
