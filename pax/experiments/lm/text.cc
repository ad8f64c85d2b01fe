#include "pax/experiments/lm/text.h"

#include "pax/data/text_input.h"

namespace pax {

ByteLmSmall::ByteLmSmall() {
  NUM_LAYERS = 4;
  VOCAB_SIZE = data::BytesTokenizer::kPaddedVocabSize;
  MODEL_DIMS = 128;
  HIDDEN_DIMS = 512;
  DIMS_PER_HEAD = 64;
  FPROP_DTYPE = DType::kF32;
  ACTIVATION_CLS = ActivationClass::kGELU;
  USE_ROTARY_POSITION_EMB = true;
  CHECKPOINT_POLICY = AutodiffCheckpointType::kSaveEverything;
  LEARNING_RATE = 4e-3;
  CLIP_GRADIENT_NORM_TO_VALUE = 1.0;
  LR_SCHEDULE = LrSchedule::kLinearRampupCosineDecay;
  NUM_TRAIN_STEPS = 500;
  LR_COS_WARMUP = 50;
  LR_COS_DECAY_START = 51;
  LR_COS_DECAY_END = 500;
  LR_COS_MIN_RATIO = 0.05;
  CHECKPOINT_EVERY_N_STEPS = 100;
  SUMMARY_INTERVAL_STEPS = 10;
  CHECKPOINT_MAX_TO_KEEP = 3;
  EVAL_INTERVAL_STEPS = 0;
  PERCORE_BATCH_SIZE = 32;
  MAX_SEQ_LEN = 128;
}

ExperimentConfig ByteLmSmall::experiment() const {
  data::TextInput::Config input;
  input.name = "text";
  input.path = std::string(PAX_DEPS_DIR) + "/text/bible-kjv.txt";
  input.batch_size = global_batch_size();
  input.seq_len = MAX_SEQ_LEN;
  input.eval_every = 50;
  ExperimentConfig config;
  config.task = task();
  config.input = std::move(input);
  return config;
}

}  // namespace pax
