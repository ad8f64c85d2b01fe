#include "pax/layers/registry.h"

#include "pax/layers/activations.h"
#include "pax/layers/adapters.h"
#include "pax/layers/attention/dot_product_attention_xl.h"
#include "pax/layers/attention/grouped_query_attention.h"
#include "pax/layers/attention/local_self_attention.h"
#include "pax/layers/attention/multi_query_attention.h"
#include "pax/layers/batch_norm.h"
#include "pax/layers/convolutions/conv_bn_act.h"
#include "pax/layers/convolutions/light_conv1d.h"
#include "pax/layers/convolutions/poolings.h"
#include "pax/layers/einsum.h"
#include "pax/layers/embedding.h"
#include "pax/layers/linears.h"
#include "pax/layers/lora.h"
#include "pax/layers/losses.h"
#include "pax/layers/masked_lm_head.h"
#include "pax/layers/ngrammer/ngrammer.h"
#include "pax/layers/normalizations.h"
#include "pax/layers/positions.h"
#include "pax/layers/quantization/quantized_layers.h"
#include "pax/layers/repeats.h"
#include "pax/layers/rnn/frnn.h"
#include "pax/layers/scaled_rotary.h"
#include "pax/layers/sequential.h"
#include "pax/layers/softmax/full_softmax.h"
#include "pax/layers/softmax/gshard_softmax.h"
#include "pax/layers/softmax/sigmoid_cross_entropy.h"
#include "pax/layers/speech/conformer.h"
#include "pax/layers/ssm/ssm_transformer.h"
#include "pax/layers/stacking_over_time.h"
#include "pax/layers/stochastics.h"
#include "pax/layers/token_counter.h"
#include "pax/layers/transformer_models/transformer_encoder_decoder.h"
#include "pax/layers/transformer_models/transformer_lm.h"
#include "pax/layers/transformers/pipelined_transformer.h"
#include "pax/layers/transformers/stacked_transformer_repeated.h"
#include "pax/layers/vision/resnet.h"
#include "pax/layers/vision/vanilla_net.h"
#include "pax/layers/vision/vit.h"
#include "pax/layers/weight_norms.h"

namespace pax {
namespace {

void register_basics(config::Registry& registry) {
  registry.add<WeightInit>();
  registry.add<EinsumOp::Config>();
  registry.add<EinsumGatedOp::Config>();
  registry.add<ArrayLookup::Config>();
  registry.add<Linear::Config>();
  registry.add<Bias::Config>();
  registry.add<FeedForward::Config>();
  registry.add<MLPBlock::Config>();
  registry.add<StackingOverTime::Config>();
  registry.add<Einsum::Config>();
  registry.add<Dropout::Config>();
  registry.add<StochasticResidual::Config>();
  registry.add<Repeat::Config>();
  registry.add<Sequential::Config>();
}

void register_activations(config::Registry& registry) {
  registry.add<ReLU::Config>();
  registry.add<SineReLU::Config>();
  registry.add<ReLU6::Config>();
  registry.add<SquaredReLU::Config>();
  registry.add<CubedReLU::Config>();
  registry.add<LeakyReLU::Config>();
  registry.add<GELU::Config>();
  registry.add<ELU::Config>();
  registry.add<Sigmoid::Config>();
  registry.add<Tanh::Config>();
  registry.add<SiLU::Config>();
  registry.add<Swish::Config>();
  registry.add<Softplus::Config>();
  registry.add<Exp::Config>();
  registry.add<Identity::Config>();
}

void register_normalizations(config::Registry& registry) {
  registry.add<IdentityNorm::Config>();
  registry.add<LayerNorm::Config>();
  registry.add<RmsNorm::Config>();
  registry.add<RmsNormNoScale::Config>();
  registry.add<BatchNorm::Config>();
  registry.add<GroupNorm::Config>();
  registry.add<WeightNormL2::Config>();
  registry.add<SpectralNorm::Config>();
}

void register_convolutions(config::Registry& registry) {
  registry.add<Conv2D::Config>();
  registry.add<Conv3D::Config>();
  registry.add<ConvBNAct::Config>();
  registry.add<ConvBNActWithPadding::Config>();
  registry.add<DepthwiseConv1D::Config>();
  registry.add<LightConv1D::Config>();
  registry.add<Pooling::Config>();
  registry.add<GlobalPooling::Config>();
  registry.add<Pooling1D::Config>();
}

void register_vision(config::Registry& registry) {
  registry.add<ResNetBlock::Config>();
  registry.add<ResNetBasicBlock::Config>();
  registry.add<ResNet::Config>();
  registry.add<VanillaBlock::Config>();
  registry.add<VanillaNet::Config>();
  registry.add<VitEntryLayers::Config>();
  registry.add<FirstToken::Config>();
  registry.add<VitExitLayers::Config>();
  registry.add<VisionTransformer::Config>();
}

void register_adapters(config::Registry& registry) {
  registry.add<LoraLinear::Config>();
  registry.add<LoraAttentionProjection::Config>();
  registry.add<LoraCombinedQKVProjection::Config>();
  registry.add<MultitaskResidualAdapter::Config>();
  registry.add<AdaptedTransformerFeedForward::Config>();
}

void register_speech_and_states(config::Registry& registry) {
  registry.add<DotProductAttentionWithContext::Config>();
  registry.add<DotProductAttentionWithContextXL::Config>();
  registry.add<SelfAttentionWithNormAndResidual::Config>();
  registry.add<Conformer::Config>();
  registry.add<SSM::Config>();
  registry.add<S5::Config>();
  registry.add<SSMTransformer::Config>();
  registry.add<SSMGated::Config>();
  registry.add<VectorQuantization::Config>();
  registry.add<Ngrammer::Config>();
  registry.add<VQNgrammer::Config>();
}

void register_quantized(config::Registry& registry) {
  registry.add<ActQuantizationParams>();
  registry.add<WeightQuantizationParams>();
  registry.add<QuantizationParams>();
  registry.add<QuantizedLinear::Config>();
  registry.add<QuantizedAttentionProjection::Config>();
  registry.add<QuantizedCombinedQKVProjectionLayer::Config>();
}

void register_rnn(config::Registry& registry) {
  registry.add<LstmCellSimple::Config>();
  registry.add<LayerNormalizedLstmCellSimple::Config>();
  registry.add<CifgLstmCellSimple::Config>();
  registry.add<FRnn::Config>();
  registry.add<LstmFrnn::Config>();
  registry.add<StackFrnn::Config>();
  registry.add<StackBiFrnn::Config>();
}

void register_embeddings(config::Registry& registry) {
  registry.add<Embedding::Config>();
  registry.add<MaskedLmHead::Config>();
  registry.add<TokenCounter::Config>();
  registry.add<FullSoftmax::Config>();
  registry.add<SharedEmbeddingSoftmax::Config>();
  registry.add<NClassMajorSharedEmbeddingSoftmax::Config>();
  registry.add<GShardSharedEmbeddingSoftmax::Config>();
  registry.add<SigmoidCrossEntropy::Config>();
  registry.add<BiTemperedLoss::Config>();
  registry.add<PositionalEmbedding::Config>();
  registry.add<PositionalEmbedding2D::Config>();
  registry.add<TrainablePositionalEmbedding::Config>();
  registry.add<RotaryPositionalEmbedding::Config>();
  registry.add<ScaledRotaryPositionalEmbedding::Config>();
}

void register_attention(config::Registry& registry) {
  registry.add<PerDimScale::Config>();
  registry.add<AttentionProjection::Config>();
  registry.add<CombinedQKVProjectionLayer::Config>();
  registry.add<OneHeadedAttentionProjection::Config>();
  registry.add<RelativeBias::Config>();
  registry.add<CausalDepthwiseConv1D::Config>();
  registry.add<DotProductAttention::Config>();
  registry.add<DotProductAttentionXL::Config>();
  registry.add<LocalSelfAttention::Config>();
  registry.add<LocalSelfAttentionXL::Config>();
  registry.add<LocalSelfAttentionRelativeBias::Config>();
  registry.add<LocalSelfAttentionAlibi::Config>();
  registry.add<MultiQueryDotProductAttention::Config>();
  registry.add<GroupedQueryAttention::Config>();
}

void register_transformers(config::Registry& registry) {
  registry.add<TransformerFeedForward::Config>();
  registry.add<TransformerFeedForwardMoe::Config>();
  registry.add<Transformer::Config>();
  registry.add<StackedTransformer::Config>();
  registry.add<StackedTransformerRepeated::Config>();
  registry.add<PipelinedTransformer::Config>();
  registry.add<PipelineCompatibleStackedTransformerRepeated::Config>();
  registry.add<TransformerLm::Config>();
  registry.add<TransformerEncoderDecoder::Config>();
}

}  // namespace

void register_layers(config::Registry& registry) {
  register_basics(registry);
  register_activations(registry);
  register_normalizations(registry);
  register_convolutions(registry);
  register_vision(registry);
  register_adapters(registry);
  register_speech_and_states(registry);
  register_quantized(registry);
  register_rnn(registry);
  register_embeddings(registry);
  register_attention(registry);
  register_transformers(registry);
}

}  // namespace pax
