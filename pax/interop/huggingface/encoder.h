#pragma once

#include "pax/interop/huggingface/family.h"

namespace pax::hf {

// Models with an encoder.

ModelPlan bert_plan(const HfConfig& config, const PlanOptions& options);
ModelPlan t5_plan(const HfConfig& config, const PlanOptions& options);
ModelPlan vit_plan(const HfConfig& config, const PlanOptions& options);

}  // namespace pax::hf
