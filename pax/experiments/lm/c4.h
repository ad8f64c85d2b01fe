#pragma once

#include "pax/experiments/lm/spmd_constants.h"

namespace pax {

// paxml.tasks.lm.params.c4: the C4 language models with Adam. Their data is synthetic until an input is set.

/// c4.TransformerLmSpmdAdam.
struct TransformerLmSpmdAdam : LmSpmdConstants {
  TransformerLmSpmdAdam() {
    NUM_LAYERS = 32;
    NUM_HEADS = 16;
    MODEL_DIMS = 1024;
    HIDDEN_DIMS = 4096;
    FPROP_DTYPE = DType::kF32;
    LEARNING_RATE = 1e-3;
  }
};

struct C4SpmdAdam : TransformerLmSpmdAdam {
  C4SpmdAdam();
  SingleTask task() const override;
};

/// What the models of 1B to 32B parameters have in common: repeated layers, bfloat16, full remat.
struct C4SpmdRepeated : C4SpmdAdam {
  C4SpmdRepeated();
};

/// GPT-3 175B with the paper's hyperparameters; steps are of 1536 rows.
struct C4SpmdGpt3AdamOrgHP : C4SpmdAdam {
  double LAYERNORM_EPSILON = 1e-5;
  double TARGET_LOG_PPLX = 2.69;
  C4SpmdGpt3AdamOrgHP();
  static void fields(C4SpmdGpt3AdamOrgHP& self, config::FieldVisitor& visit);
  SingleTask task() const override;
};

}  // namespace pax
