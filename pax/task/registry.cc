#include "pax/task/registry.h"

#include "pax/task/decoding/beam_decoder.h"
#include "pax/task/models/bert_model.h"
#include "pax/task/models/classification_model.h"
#include "pax/task/models/language_model.h"
#include "pax/task/models/sequence_model.h"
#include "pax/task/single_task.h"

namespace pax {

void register_tasks(config::Registry& registry) {
  registry.add<LanguageModel::Config>();
  registry.add<SequenceModel::Config>();
  registry.add<BertModel::Config>();
  registry.add<MaskedLmDataAugmenter::Config>();
  registry.add<ClassificationModel::Config>();
  registry.add<ClassificationMLPModel::Config>();
  registry.add<GreedyDecoder::Config>();
  registry.add<SampleDecoder::Config>();
  registry.add<BeamDecoder::Config>();
  registry.add<DefaultNextTokenSampler>();
  registry.add<DefaultCategoricalLogitsSampler>();
  registry.add<SingleTask>();
  registry.add<TrainConfig>();
  registry.add<DecodeConfig>();
  registry.add<EvaluateConfig>();
  registry.add<InferConfig>();
  registry.add<VariationalNoiseConfig>();
}

}  // namespace pax
