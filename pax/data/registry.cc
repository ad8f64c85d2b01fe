#include "pax/data/registry.h"

#include "pax/data/hf_tokenizer.h"
#include "pax/data/bucket_input.h"
#include "pax/data/line_input.h"
#include "pax/data/multi_input.h"
#include "pax/data/preprocessors.h"
#include "pax/data/sentencepiece_tokenizer.h"
#include "pax/data/seqio_input.h"
#include "pax/data/synthetic_input.h"
#include "pax/data/text_input.h"
#include "pax/data/token_file_input.h"

namespace pax::data {

void register_inputs(config::Registry& registry) {
  registry.add<BucketInput::Config>();
  registry.add<LimitedInput::Config>();
  registry.add<LineInput::Config>();
  registry.add<MultiInput::Config>();
  registry.add<SeqIOInput::Config>();
  registry.add<SyntheticLmData::Config>();
  registry.add<TextInput::Config>();
  registry.add<TokenFileInput::Config>();

  registry.add<HfTokenizer::Config>();
  registry.add<BytesTokenizer::Config>();
  registry.add<SentencePieceTokenizer::Config>();

  registry.add<FileSource::Config>();
  registry.add<TextProcessor::Config>();
  registry.add<Mixture::Config>();
  registry.add<Task::Config>();

  registry.add<AddBosEos::Config>();
  registry.add<AppendEos::Config>();
  registry.add<AppendEosAfterTrim::Config>();
  registry.add<PrefixLm::Config>();
  registry.add<Rekey::Config>();
  registry.add<SpanCorruption::Config>();
  registry.add<SplitTokens::Config>();
  registry.add<Tokenize::Config>();

  registry.add<LanguageModelFeatures::Config>();
  registry.add<PassThroughFeatures::Config>();
  registry.add<SequenceModelFeatures::Config>();
}

}  // namespace pax::data
