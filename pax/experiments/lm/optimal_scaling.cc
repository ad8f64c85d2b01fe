#include "pax/config/registry.h"
#include "pax/experiments/lm/lm_cloud.h"
#include "pax/experiments/lm/registry.h"

// paxml.tasks.lm.params.optimal_scaling: models whose width follows from their depth.

namespace pax {

/// MODEL_DIMS is 128 x NUM_LAYERS, HIDDEN_DIMS four times that, whatever they are set to.
struct OptimalScaling : LmCloudSpmd {
  OptimalScaling() { CHECKPOINT_POLICY = AutodiffCheckpointType::kSaveDotWithNoBatchDim; }
  void validate(config::Errors& errors) const { scaled().LmCloudSpmd::validate(errors); }
  SingleTask task() const override { return scaled().LmCloudSpmd::task(); }

 private:
  OptimalScaling scaled() const {
    OptimalScaling out = *this;
    out.MODEL_DIMS = 128 * NUM_LAYERS;
    out.HIDDEN_DIMS = 4 * out.MODEL_DIMS;
    return out;
  }
};

struct OptimalScaling2x2x1 : OptimalScaling {
  using Product = Preset<OptimalScaling2x2x1>;
  static constexpr std::string_view kName = "lm.optimal_scaling.OptimalScaling2x2x1";
  static constexpr std::string_view kDoc = "4.4B parameters on 4 chips, batch 64.";
  OptimalScaling2x2x1() {
    NUM_LAYERS = 28;
    PERCORE_BATCH_SIZE = 16;
    ICI_MESH_SHAPE = {1, 4, 1};
  }
};

struct OptimalScaling2x2x2 : OptimalScaling {
  using Product = Preset<OptimalScaling2x2x2>;
  static constexpr std::string_view kName = "lm.optimal_scaling.OptimalScaling2x2x2";
  static constexpr std::string_view kDoc = "6.6B parameters on 8 chips, batch 64.";
  OptimalScaling2x2x2() {
    NUM_LAYERS = 32;
    PERCORE_BATCH_SIZE = 8;
    ICI_MESH_SHAPE = {1, 8, 1};
  }
};

struct OptimalScaling2x2x4 : OptimalScaling {
  using Product = Preset<OptimalScaling2x2x4>;
  static constexpr std::string_view kName = "lm.optimal_scaling.OptimalScaling2x2x4";
  static constexpr std::string_view kDoc = "9.3B parameters on 16 chips, batch 128.";
  OptimalScaling2x2x4() {
    NUM_LAYERS = 36;
    PERCORE_BATCH_SIZE = 8;
    ICI_MESH_SHAPE = {1, 16, 1};
  }
};

struct OptimalScaling2x4x4 : OptimalScaling {
  using Product = Preset<OptimalScaling2x4x4>;
  static constexpr std::string_view kName = "lm.optimal_scaling.OptimalScaling2x4x4";
  static constexpr std::string_view kDoc = "12.7B parameters on 32 chips, batch 256.";
  OptimalScaling2x4x4() {
    NUM_LAYERS = 40;
    PERCORE_BATCH_SIZE = 8;
    ICI_MESH_SHAPE = {1, 32, 1};
  }
};

struct OptimalScaling4x4x4 : OptimalScaling {
  using Product = Preset<OptimalScaling4x4x4>;
  static constexpr std::string_view kName = "lm.optimal_scaling.OptimalScaling4x4x4";
  static constexpr std::string_view kDoc = "18.1B parameters on 64 chips, batch 512.";
  OptimalScaling4x4x4() {
    NUM_LAYERS = 45;
    PERCORE_BATCH_SIZE = 8;
    ICI_MESH_SHAPE = {1, 64, 1};
  }
};

struct OptimalScaling4x4x8 : OptimalScaling {
  using Product = Preset<OptimalScaling4x4x8>;
  static constexpr std::string_view kName = "lm.optimal_scaling.OptimalScaling4x4x8";
  static constexpr std::string_view kDoc = "24.8B parameters on 128 chips, batch 512.";
  OptimalScaling4x4x8() {
    NUM_LAYERS = 50;
    PERCORE_BATCH_SIZE = 4;
    ICI_MESH_SHAPE = {1, 128, 1};
  }
};

struct OptimalScaling4x8x8 : OptimalScaling {
  using Product = Preset<OptimalScaling4x8x8>;
  static constexpr std::string_view kName = "lm.optimal_scaling.OptimalScaling4x8x8";
  static constexpr std::string_view kDoc = "34.8B parameters on 256 chips, batch 512.";
  OptimalScaling4x8x8() {
    NUM_LAYERS = 56;
    PERCORE_BATCH_SIZE = 2;
    ICI_MESH_SHAPE = {1, 64, 4};
  }
};

struct OptimalScaling4x8x16 : OptimalScaling {
  using Product = Preset<OptimalScaling4x8x16>;
  static constexpr std::string_view kName = "lm.optimal_scaling.OptimalScaling4x8x16";
  static constexpr std::string_view kDoc = "51.8B parameters on 512 chips, batch 1024.";
  OptimalScaling4x8x16() {
    NUM_LAYERS = 64;
    PERCORE_BATCH_SIZE = 2;
    ICI_MESH_SHAPE = {1, 128, 4};
  }
};

struct OptimalScaling4x16x16 : OptimalScaling {
  using Product = Preset<OptimalScaling4x16x16>;
  static constexpr std::string_view kName = "lm.optimal_scaling.OptimalScaling4x16x16";
  static constexpr std::string_view kDoc = "51.8B parameters on 1024 chips, batch 1024.";
  OptimalScaling4x16x16() {
    NUM_LAYERS = 64;
    PERCORE_BATCH_SIZE = 1;
    ICI_MESH_SHAPE = {1, 256, 4};
  }
};

struct OptimalScaling4x16x32 : OptimalScaling {
  using Product = Preset<OptimalScaling4x16x32>;
  static constexpr std::string_view kName = "lm.optimal_scaling.OptimalScaling4x16x32";
  static constexpr std::string_view kDoc = "51.8B parameters on 2048 chips, batch 2048.";
  OptimalScaling4x16x32() {
    NUM_LAYERS = 64;
    PERCORE_BATCH_SIZE = 1;
    ICI_MESH_SHAPE = {1, 512, 4};
  }
};

struct OptimalScaling4x24x32 : OptimalScaling {
  using Product = Preset<OptimalScaling4x24x32>;
  static constexpr std::string_view kName = "lm.optimal_scaling.OptimalScaling4x24x32";
  static constexpr std::string_view kDoc = "51.8B parameters on 3072 chips, batch 3072.";
  OptimalScaling4x24x32() {
    NUM_LAYERS = 64;
    PERCORE_BATCH_SIZE = 1;
    ICI_MESH_SHAPE = {1, 768, 4};
  }
};

void register_optimal_scaling(config::Registry& registry) {
  registry.add<OptimalScaling2x2x1>();
  registry.add<OptimalScaling2x2x2>();
  registry.add<OptimalScaling2x2x4>();
  registry.add<OptimalScaling2x4x4>();
  registry.add<OptimalScaling4x4x4>();
  registry.add<OptimalScaling4x4x8>();
  registry.add<OptimalScaling4x8x8>();
  registry.add<OptimalScaling4x8x16>();
  registry.add<OptimalScaling4x16x16>();
  registry.add<OptimalScaling4x16x32>();
  registry.add<OptimalScaling4x24x32>();
}

}  // namespace pax
