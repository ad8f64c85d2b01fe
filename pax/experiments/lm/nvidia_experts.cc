#include <numeric>

#include "pax/config/registry.h"
#include "pax/experiments/lm/glam.h"
#include "pax/experiments/lm/nvidia.h"
#include "pax/experiments/lm/registry.h"
#include "pax/experiments/lm/task_parts.h"

// The models with experts of paxml.tasks.lm.params.nvidia.

namespace pax {

struct NvidiaExperts : NvidiaConstants {
  int64_t NUM_EXPERTS = 8;
  int64_t NUM_GROUPS = 1;
  static void fields(NvidiaExperts& self, config::FieldVisitor& visit) {
    NvidiaConstants::fields(self, visit);
    visit("NUM_EXPERTS", self.NUM_EXPERTS, {.min = 1});
    visit("NUM_GROUPS", self.NUM_GROUPS, {.doc = "Groups of tokens that are routed apart.", .min = 1});
  }

 protected:
  ExpertLmOptions expert_options() const {
    return {.vocab_size = VOCAB_SIZE,
            .model_dim = MODEL_DIMS,
            .hidden_dim = HIDDEN_DIMS,
            .num_heads = num_heads(),
            .num_layers = NUM_LAYERS,
            .num_experts = NUM_EXPERTS,
            .num_groups = NUM_GROUPS};
  }
};

struct MoELarge : NvidiaExperts {
  using Product = Preset<MoELarge>;
  static constexpr std::string_view kName = "lm.nvidia.MoELarge";
  static constexpr std::string_view kDoc = "26.8B parameters, 16 experts in every layer, on 2 x 16 devices.";
  MoELarge() {
    NUM_LAYERS = 12;
    MODEL_DIMS = 4096;
    HIDDEN_DIMS = 16384;
    DIMS_PER_HEAD = 128;
    NUM_EXPERTS = 16;
    NUM_GROUPS = 16;
    ICI_MESH_SHAPE = {1, 16, 1};
    DCN_MESH_SHAPE = {1, 2, 1};
  }
  SingleTask task() const override {
    SingleTask task = NvidiaExperts::task();
    Tpl<TransformerStack> block = block_of(task);
    std::vector<int64_t> layers(static_cast<size_t>(NUM_LAYERS));
    std::iota(layers.begin(), layers.end(), 0);
    block.set("moe_layers", layers);
    block.set("num_groups", NUM_GROUPS);
    block.set("num_experts", NUM_EXPERTS);
    experts_like_feed_forward(block);
    return task;
  }
};

struct GlamProxy : NvidiaExperts {
  GlamProxy() {
    NUM_LAYERS = 8;
    NUM_HEADS = 64;
    DIMS_PER_HEAD = 128;
    MODEL_DIMS = 8192;
    HIDDEN_DIMS = 32768;
    NUM_GROUPS = 128;
    DCN_MESH_SHAPE.clear();
  }
  SingleTask task() const override {
    SingleTask task = NvidiaExperts::task();
    task.model.set("lm_tpl", glam_lm(expert_options()));
    split_over_mesh(task, *this);
    return task;
  }
};

struct GLaM64B64EProxy : GlamProxy {
  using Product = Preset<GLaM64B64EProxy>;
  static constexpr std::string_view kName = "lm.nvidia.GLaM64B64EProxy";
  static constexpr std::string_view kDoc = "143B parameters, 8 layers, 64 experts in every second one, on 128 devices.";
  GLaM64B64EProxy() {
    NUM_EXPERTS = 64;
    ICI_MESH_SHAPE = {1, 128, 1};
  }
};

struct GLaM64B64EProxy_EP : GlamProxy {
  using Product = Preset<GLaM64B64EProxy_EP>;
  static constexpr std::string_view kName = "lm.nvidia.GLaM64B64EProxy_EP";
  static constexpr std::string_view kDoc =
      "23B parameters: GLaM64B64EProxy with 8 experts, over a mesh axis of their own.";
  GLaM64B64EProxy_EP() {
    NUM_EXPERTS = 8;
    ICI_MESH_SHAPE = {1, 16, 8, 1};
    USE_EXPERT_PARALLEL = true;
  }
};

struct GrokConstants : NvidiaExperts {
  int64_t NUM_KV_HEADS = 8;
  bool USE_ROPE = true;
  GrokConstants() {
    NUM_HEADS = 48;
    DIMS_PER_HEAD = 128;
    CHECKPOINT_POLICY = AutodiffCheckpointType::kSaveQkvOutProj;
    MODEL_DIMS = 6144;
    HIDDEN_DIMS = 32768;
    COMBINE_QKV = false;
    PERCORE_BATCH_SIZE = 1;
    MAX_SEQ_LEN = 8192;
    VOCAB_SIZE = 131072;
    MAX_STEPS = 10;
    USE_EXPERT_PARALLEL = true;
    ICI_MESH_SHAPE = {1, 1, 8, 1};
  }
  static void fields(GrokConstants& self, config::FieldVisitor& visit) {
    NvidiaExperts::fields(self, visit);
    visit("NUM_KV_HEADS", self.NUM_KV_HEADS, {.doc = "Of keys and values; divides NUM_HEADS.", .min = 1});
    visit("USE_ROPE", self.USE_ROPE, "Rotary positions; without, positions are not told apart.");
  }
  SingleTask task() const override {
    SingleTask task = NvidiaExperts::task();
    ExpertLmOptions options = expert_options();
    options.num_kv_heads = NUM_KV_HEADS;
    options.checkpoint_policy = CHECKPOINT_POLICY;
    options.num_stages = NUM_STAGES.value_or(1);
    options.num_microbatches = NUM_MICROBATCHES.value_or(1);
    task.model.set("lm_tpl", grok_lm(options));
    split_over_mesh(task, *this);
    layer_of(task).set("tr_atten_tpl.use_rotary_position_emb", USE_ROPE);
    return task;
  }
};

struct GrokPipeline : GrokConstants {
  GrokPipeline() {
    USE_REPEATED_LAYER = false;
    NUM_STAGES = 8;
    NUM_MICROBATCHES = 32;
    MICROBATCH_SIZE = 8;
    NUM_GROUPS = 8;
    ICI_MESH_SHAPE = {1, 1, 1, 8, 1};
    DCN_MESH_SHAPE = {8, 1, 8, 1, 1};
  }
  SingleTask task() const override {
    SingleTask task = GrokConstants::task();
    task.train.always_use_train_for_model_init = false;
    return task;
  }
};

struct Grok : GrokConstants {
  using Product = Preset<Grok>;
  static constexpr std::string_view kName = "lm.nvidia.Grok";
  static constexpr std::string_view kDoc =
      "316B parameters, 64 layers of 8 experts, on 32 x 8 devices, batch 256 of 8192.";
  Grok() {
    NUM_LAYERS = 64;
    NUM_GROUPS = 256;
    DCN_MESH_SHAPE = {1, 32, 1, 1};
  }
};

struct Grok_Proxy : GrokConstants {
  using Product = Preset<Grok_Proxy>;
  static constexpr std::string_view kName = "lm.nvidia.Grok_Proxy";
  static constexpr std::string_view kDoc = "80B parameters, 16 of Grok's layers, on 8 x 8 devices.";
  Grok_Proxy() {
    NUM_LAYERS = 16;
    NUM_GROUPS = 64;
    DCN_MESH_SHAPE = {1, 8, 1, 1};
  }
};

struct Grok_Proxy_PP : GrokPipeline {
  using Product = Preset<Grok_Proxy_PP>;
  static constexpr std::string_view kName = "lm.nvidia.Grok_Proxy_PP";
  static constexpr std::string_view kDoc = "Grok_Proxy in 8 stages on 512 devices.";
  Grok_Proxy_PP() { NUM_LAYERS = 16; }
};

struct Grok_PP : GrokPipeline {
  using Product = Preset<Grok_PP>;
  static constexpr std::string_view kName = "lm.nvidia.Grok_PP";
  static constexpr std::string_view kDoc = "Grok in 8 stages on 512 devices.";
  Grok_PP() { NUM_LAYERS = 64; }
};

void register_nvidia_experts(config::Registry& registry) {
  registry.add<MoELarge>();
  registry.add<GLaM64B64EProxy>();
  registry.add<GLaM64B64EProxy_EP>();
  registry.add<Grok>();
  registry.add<Grok_Proxy>();
  registry.add<Grok_Proxy_PP>();
  registry.add<Grok_PP>();
}

}  // namespace pax
