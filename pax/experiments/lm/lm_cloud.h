#pragma once

#include "pax/experiments/lm/spmd_constants.h"

namespace pax {

/// paxml.tasks.lm.params.lm_cloud.LmCloudSpmd: language models on synthetic data.
struct LmCloudSpmd : LmSpmdConstants {
  LmCloudSpmd() {
    ACTIVATION_CLS = ActivationClass::kGELU;
    USE_REPEATED_LAYER = true;
  }
  SingleTask task() const override;
};

}  // namespace pax
