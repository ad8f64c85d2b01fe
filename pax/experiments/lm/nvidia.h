#pragma once

#include "pax/experiments/lm/c4.h"

namespace pax {

/// paxml.tasks.lm.params.nvidia: models for GPUs on synthetic data; no summaries of layers.
struct NvidiaConstants : TransformerLmSpmdAdam {
  double INIT_STD = 0.023;
  std::optional<double> MAX_STEPS;
  NvidiaConstants();
  static void fields(NvidiaConstants& self, config::FieldVisitor& visit);
  SingleTask task() const override;
};

}  // namespace pax
