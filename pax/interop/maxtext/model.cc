#include "pax/interop/maxtext/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "pax/control/remat.h"
#include "pax/interop/huggingface/decoder.h"
#include "pax/layers/activations.h"
#include "pax/layers/embedding.h"
#include "pax/layers/scaled_rotary.h"
#include "pax/layers/softmax/full_softmax.h"
#include "pax/layers/transformers/stacked_transformer_repeated.h"

namespace pax::maxtext {
namespace {

using hf::DecoderSpec;

/// Factors by which global_parameter_scale = 2^(3q + r) multiplies the base shape.
struct Scale {
  int64_t layers = 1, heads = 1, mlp = 1, emb = 1;
};

Scale scale_of(const Settings& s, config::Errors& errors) {
  const int64_t factor = s.integer("global_parameter_scale");
  if (factor < 1 || !std::has_single_bit(static_cast<uint64_t>(factor)) || factor > (int64_t{1} << 30)) {
    errors.add("global_parameter_scale", fmt::format("{} is no power of two from 1", factor));
    return {};
  }
  const int log = std::countr_zero(static_cast<uint64_t>(factor));
  const int q = log / 3, r = log % 3;
  const auto pow2 = [](int n) { return int64_t{1} << n; };
  return {.layers = pow2(q), .heads = pow2(q + (r > 0)), .mlp = pow2(q + (r > 0)), .emb = pow2(q + (r > 1))};
}

void add_activation(DecoderSpec& spec, const Settings& s, config::Errors& errors) {
  const std::vector<std::string> names = s.list("mlp_activations");
  spec.gated = names.size() == 2 && names[1] == "linear";
  const std::string first = names.empty() ? "" : names[0];
  if (first == "silu") {
    spec.activation = SiLU::Config{};
  } else if (first == "gelu") {
    spec.activation = GELU::Config{};
  } else if (first == "relu") {
    spec.activation = ReLU::Config{};
  } else {
    spec.activation = Identity::Config{};
    errors.add("mlp_activations", fmt::format("\"{}\" has no counterpart; use silu, gelu or relu", first));
  }
  if (names.size() > 1 && !spec.gated) {
    errors.add("mlp_activations", "only [ACTIVATION, linear] and [ACTIVATION] have a counterpart");
  }
}

void add_positions(DecoderSpec& spec, const Settings& s, config::Errors& errors) {
  const int64_t trained = s.integer("trainable_position_size");
  if (trained > 0) {
    TrainablePositionalEmbedding::Config positions;
    positions.max_seq_length = trained;
    spec.positions = positions;
    return;
  }
  if (s.flag("use_untrainable_positional_embedding")) {
    spec.positions = PositionalEmbedding::Config{};
    return;
  }
  ScaledRotaryPositionalEmbedding::Config rope;
  rope.theta = s.number("rope_max_timescale");
  const std::string type = s.text("model_name").starts_with("llama3.1") ? "llama3.1" : s.text("rope_type");
  if (type == "llama3.1" && s.flag("rope_use_scale")) {
    rope.scaling = RopeScaling::kLlama3;
    rope.factor = 8;
    rope.low_freq_factor = 1;
    rope.high_freq_factor = 4;
    rope.original_max_positions = 8192;
  } else if (type != "default" && type != "llama3.1") {
    errors.add("rope_type", fmt::format("\"{}\" has no counterpart; use default or llama3.1", type));
  }
  spec.rope = rope;
}

void add_windows(DecoderSpec& spec, const Settings& s, config::Errors& errors) {
  const int64_t window = s.integer("sliding_window_size");
  const std::string type = s.text("attention_type");
  if (s.text("decoder_block") == "gemma2") {
    for (int64_t i = 0; i < spec.layers; ++i) {
      spec.windows.push_back(i % 2 == 0 ? std::optional(window) : std::nullopt);
    }
  } else if (type == "local_sliding") {
    if (window < 1) errors.add("sliding_window_size", "local_sliding needs a window of 1 or more");
    spec.windows.assign(static_cast<size_t>(spec.layers), std::max<int64_t>(window, 1));
  } else if (type != "global") {
    errors.add("attention_type", fmt::format("\"{}\" has no counterpart; use global or local_sliding", type));
  }
}

void add_experts(DecoderSpec& spec, const Settings& s, config::Errors& errors) {
  spec.experts = s.integer("num_experts") > 1 ? s.integer("num_experts") : 0;
  if (spec.experts == 0) return;
  spec.experts_per_token = s.integer("num_experts_per_tok");
  const int64_t width = s.integer("base_moe_mlp_dim");
  if (width > 0) spec.hidden = width;
  if (s.number("load_balance_loss_weight") != 0) spec.router_loss_weight = s.number("load_balance_loss_weight");
  if (s.number("capacity_factor") > 0) {
    errors.add("capacity_factor", "experts of bounded capacity have no counterpart; use -1");
  }
}

/// What the families differ in.
void add_family(DecoderSpec& spec, const Settings& s, config::Errors& errors) {
  const std::string block = s.text("decoder_block");
  const double epsilon = s.number("normalization_layer_epsilon");
  const bool gemma = block == "gemma" || block == "gemma2";
  spec.norm = gemma ? hf::rms_norm_plus_one(epsilon) : hf::rms_norm(epsilon);
  if (block == "gpt3") {
    spec.norm = hf::layer_norm(epsilon);
    spec.qkv_bias = spec.post_bias = spec.mlp_bias = true;
  } else if (block == "gemma2" && s.text("model_name") == "gemma2-27b") {
    spec.query_scale = 1 / std::sqrt(static_cast<double>(spec.dims) / static_cast<double>(spec.heads));
  }
  static constexpr std::string_view kBlocks[] = {"llama2", "mistral", "mixtral", "gemma",    "gemma2",
                                                 "gpt3",   "qwen2",   "qwen3",   "qwen3_moe"};
  if (std::ranges::find(kBlocks, block) == std::end(kBlocks)) {
    errors.add("decoder_block",
               fmt::format("\"{}\" has no counterpart yet; there are {}", block, fmt::join(kBlocks, ", ")));
  }
  spec.scale_embedding = gemma;
  spec.final_norm = spec.norm.clone();
  if (s.flag("attention_bias")) spec.qkv_bias = true;
  if (s.flag("use_post_attn_norm") != s.flag("use_post_ffw_norm")) {
    errors.add("use_post_attn_norm", "must equal use_post_ffw_norm: norm_policy holds for both halves of a layer");
  }
  if (s.flag("use_post_attn_norm")) spec.norm_policy = NormPolicy::kPrimerHybrid;
}

std::optional<AutodiffCheckpointType> remat_of(const std::string& policy) {
  static constexpr std::pair<std::string_view, AutodiffCheckpointType> kPolicies[] = {
      {"full", AutodiffCheckpointType::kSaveNothing},
      {"none", AutodiffCheckpointType::kSaveEverything},
      {"minimal", AutodiffCheckpointType::kSaveDotWithNoBatchDim},
      {"minimal_with_context", AutodiffCheckpointType::kSaveDotWithNoBatchDim},
      {"save_dot_with_context_except_mlp", AutodiffCheckpointType::kSaveContextAndOutProj},
      {"save_dot_except_mlp", AutodiffCheckpointType::kSaveQkvOutProjSeparate},
      {"save_dot_except_mlpwi", AutodiffCheckpointType::kSaveQkvOutProjSeparate},
      {"save_qkv_proj", AutodiffCheckpointType::kSaveQkvOutProjSeparate},
      {"save_out_proj", AutodiffCheckpointType::kSaveOutProj}};
  for (const auto& [name, type] : kPolicies) {
    if (name == policy) return type;
  }
  return std::nullopt;
}

void set_softmax(Tpl<BaseModel>& model, const Settings& s) {
  if (s.flag("logits_via_embedding") && s.flag("normalize_embedding_logits")) {
    SharedEmbeddingSoftmax::Config softmax;  // the one that scales before the logits
    softmax.scale_before_logits = true;
    softmax.scale_sqrt_depth = model.get<bool>("lm_tpl.softmax_tpl.scale_sqrt_depth");
    softmax.soft_cap_logits = model.get<std::optional<double>>("lm_tpl.softmax_tpl.soft_cap_logits");
    softmax.feed_forward_tpl.set("has_bias", false);
    model.set("lm_tpl.softmax_tpl", softmax);
  }
  model.set("lm_tpl.softmax_tpl.z_loss_weight", s.number("z_loss_multiplier"));
  if (s.flag("use_iota_embed")) {
    model.try_set("lm_tpl.separate_embedding_tpl.lookup_style", LookupStyle::kMatmul);
    model.try_set("lm_tpl.softmax_tpl.lookup_style", LookupStyle::kMatmul);
  }
}

DType dtype_of(const Settings& s, const char* key, config::Errors& errors) {
  const std::string name = s.text(key);
  if (name == "bfloat16") return DType::kBF16;
  if (name != "float32") errors.add(key, fmt::format("\"{}\": use float32 or bfloat16", name));
  return DType::kF32;
}

}  // namespace

Tpl<BaseModel> model_of(const Settings& s, config::Errors& errors) {
  const Scale scale = scale_of(s, errors);
  const auto size_of = [&](const char* key, int64_t most) {
    const int64_t size = s.integer(key);
    if (size < 1 || size > most) errors.add(key, fmt::format("{} must be from 1 to {}", size, most));
    return std::clamp<int64_t>(size, 1, most);
  };
  constexpr int64_t kMostLayers = 10'000, kMost = int64_t{1} << 31;
  DecoderSpec spec;
  spec.vocab = size_of("vocab_size", kMost);
  spec.dims = size_of("base_emb_dim", kMost) * scale.emb;
  spec.layers = size_of("base_num_decoder_layers", kMostLayers) * scale.layers;
  if (s.text("decoder_block") == "gemma2") spec.layers *= 2;
  spec.hidden = size_of("base_mlp_dim", kMost) * scale.mlp;
  spec.heads = size_of("base_num_query_heads", kMost) * scale.heads;
  spec.kv_heads = size_of("base_num_kv_heads", kMost) * scale.heads;
  spec.head_dim = size_of("head_dim", kMost);
  if (!errors.empty()) return {};
  if (spec.heads % spec.kv_heads != 0) {
    errors.add("base_num_kv_heads", fmt::format("{} does not divide the {} query heads", spec.kv_heads, spec.heads));
  }
  spec.attention_cap = s.number("attn_logits_soft_cap");
  spec.qk_norm = s.flag("use_qk_norm");
  spec.tied = s.flag("logits_via_embedding");
  if (spec.tied) spec.logit_cap = s.number("final_logits_soft_cap");
  const double dropout = s.flag("enable_dropout") ? s.number("dropout_rate") : 0;
  spec.attention_dropout = spec.residual_dropout = dropout;
  add_family(spec, s, errors);
  add_activation(spec, s, errors);
  add_positions(spec, s, errors);
  add_windows(spec, s, errors);
  add_experts(spec, s, errors);
  const auto remat = remat_of(s.text("remat_policy"));
  if (!remat) errors.add("remat_policy", fmt::format("\"{}\" has no counterpart", s.text("remat_policy")));
  const DType activations = dtype_of(s, "dtype", errors), weights = dtype_of(s, "weight_dtype", errors);
  if (!errors.empty()) return {};

  Tpl<BaseModel> model = hf::decoder_plan(spec, {.repeat_layers = s.flag("scan_layers")}).model;
  model.set("name", "maxtext");
  model.set("lm_tpl.packed_input", true);
  model.set("fprop_dtype", activations);
  model.set("dtype", weights);
  model.try_set("lm_tpl.stacked_transformer_tpl.checkpoint_policy", *remat);
  set_softmax(model, s);
  return model;
}

}  // namespace pax::maxtext
