#pragma once

#include "pax/array/tree.h"
#include "pax/layers/transformer_models/lm_sharding.h"
#include "pax/trainer/experiment.h"

namespace pax {

inline constexpr int64_t kPositions = 16;

/// How a model is laid out over devices.
struct Layout {
  const char* name;
  std::vector<std::string> axes;
  std::vector<int64_t> ici, dcn;
  MeshAxes roles;
  OptimizedFor use = OptimizedFor::kTraining;
};

enum class Model : uint8_t { kDense, kExperts };

struct Sizes {
  int64_t rows = 8;
  int64_t vocabulary = 320;
  int64_t hidden = 64;
};

/// A language model of two layers in float32 whose loss falls within a few steps.
ExperimentConfig small_model(const Layout& layout, Model model, const Sizes& sizes);

/// Ids that look random and are the same each time.
HostTree batch_of(int64_t rows, int64_t vocabulary, uint32_t seed);

}  // namespace pax
