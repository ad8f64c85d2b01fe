#include <algorithm>

#include "pax/control/remat.h"
#include "pax/ops/identity.h"

namespace pax {
namespace {

using enum AutodiffCheckpointType;
using Names = std::vector<std::string_view>;

/// Keeps the tensors that layers named so with `checkpoint_name`.
class KeepNamed final : public RematPolicy {
 public:
  explicit KeepNamed(Names names) : names_(std::move(names)) {}
  bool keeps(const Node& node) const override {
    if (node.op->name != kCheckpointName.name) return false;
    const auto* name = node.attrs.find<std::string>("_name");
    return name != nullptr && std::ranges::find(names_, *name) != names_.end();
  }

 private:
  Names names_;
};

/// Keeps matrix products: all, or those without batch dimensions.
class KeepDots final : public RematPolicy {
 public:
  enum class Which : uint8_t { kAll, kNoBatchDim };
  explicit KeepDots(Which which) : which_(which) {}
  bool keeps(const Node& node) const override {
    if (node.op->name != "dot_general") return false;
    const auto* dims = node.attrs.find<DotDims>("dot_dimension_numbers");
    return which_ == Which::kAll || (dims != nullptr && dims->lhs_batch.empty());
  }

 private:
  Which which_;
};

Names kept_names(AutodiffCheckpointType type) {
  switch (type) {
    case kSaveQkvOutProj:
      return {"combined_qkv_proj", "out_proj"};
    case kSaveQkvOutProjSeparate:
      return {"query_proj", "value_proj", "key_proj", "out_proj"};
    case kSaveOutProj:
      return {"out_proj"};
    case kSaveContext:
      return {"context"};
    case kSaveContextAndOutProj:
      return {"context", "out_proj"};
    case kSaveDotForMlperf200B:
      return {"combined_qkv_proj", "query_proj", "value_proj", "key_proj", "context", "out_proj"};
    case kSaveIterationInput:
      return {"iteration_input"};
    case kSaveTransformerLayerOutput:
      return {"transformer_layer_out"};
    case kSaveQuantized:
      return {"context", "out_proj", "combined_qkv_proj", "qlhs", "qrhs", "lhs_scale", "rhs_scale"};
    case kSaveDotExceptLogits:
      return {"combined_qkv_proj", "query_proj", "value_proj", "key_proj", "context", "out_proj", "ffn1", "ffn2"};
    case kSaveDotExceptLogitsFfn1:
      return {"combined_qkv_proj", "query_proj", "value_proj", "key_proj", "context", "out_proj", "ffn2"};
    case kSaveUnetConv:
      return {"conv_out"};
    case kSaveUnetAllConv:
      return {"conv_0", "conv_1", "conv_out"};
    default:
      return {};
  }
}

}  // namespace

std::span<const std::pair<AutodiffCheckpointType, std::string_view>> enum_names(AutodiffCheckpointType) {
  static constexpr std::pair<AutodiffCheckpointType, std::string_view> kNames[] = {
      {kSaveEverything, "SAVE_EVERYTHING"},
      {kSaveEverything, "save_everything"},
      {kSaveNothing, "SAVE_NOTHING"},
      {kSaveNothing, "save_nothing"},
      {kSaveDotOnly, "SAVE_DOT_ONLY"},
      {kSaveDotOnly, "save_dot_only"},
      {kSaveDotWithNoBatchDim, "SAVE_DOT_WITH_NO_BATCH_DIM"},
      {kSaveDotWithNoBatchDim, "save_dot_with_no_batch_dims"},
      {kSaveQkvOutProj, "SAVE_QKV_OUT_PROJ"},
      {kSaveQkvOutProj, "save_qkv_out_proj"},
      {kSaveQkvOutProjSeparate, "SAVE_QKV_OUT_PROJ_SEPARATE"},
      {kSaveQkvOutProjSeparate, "save_qkv_out_proj_separate"},
      {kSaveOutProj, "SAVE_OUT_PROJ"},
      {kSaveOutProj, "save_out_proj"},
      {kSaveContext, "SAVE_CONTEXT"},
      {kSaveContext, "save_context"},
      {kSaveContextAndOutProj, "SAVE_CONTEXT_AND_OUT_PROJ"},
      {kSaveContextAndOutProj, "save_encoded_and_out_proj"},
      {kSaveDotForMlperf200B, "SAVE_DOT_FOR_MLPERF_200B"},
      {kSaveDotForMlperf200B, "save_dot_for_mlperf_200b"},
      {kSaveIterationInput, "SAVE_ITERATION_INPUT"},
      {kSaveIterationInput, "save_iteration_input"},
      {kSaveTransformerLayerOutput, "SAVE_TRANSFORMER_LAYER_OUTPUT"},
      {kSaveTransformerLayerOutput, "save_transformer_layer_output"},
      {kSaveQuantized, "SAVE_QUANTIZED"},
      {kSaveQuantized, "save_quantized"},
      {kSaveDotExceptLogits, "SAVE_DOT_EXCEPT_LOGITS"},
      {kSaveDotExceptLogits, "save_dot_except_logits"},
      {kSaveDotExceptLogitsFfn1, "SAVE_DOT_EXCEPT_LOGITS_FFN1"},
      {kSaveDotExceptLogitsFfn1, "save_dot_except_logits_ffn1"},
      {kSaveUnetConv, "SAVE_UNET_CONV"},
      {kSaveUnetConv, "save_unet_conv"},
      {kSaveUnetAllConv, "SAVE_UNET_ALL_CONV"},
      {kSaveUnetAllConv, "save_unet_all_conv"},
  };
  return kNames;
}

std::shared_ptr<const RematPolicy> remat_policy(AutodiffCheckpointType type) {
  switch (type) {
    case kSaveEverything:
      return nullptr;
    case kSaveDotOnly:
      return std::make_shared<KeepDots>(KeepDots::Which::kAll);
    case kSaveDotWithNoBatchDim:
      return std::make_shared<KeepDots>(KeepDots::Which::kNoBatchDim);
    default:
      return std::make_shared<KeepNamed>(kept_names(type));
  }
}

}  // namespace pax
