#include "pax/serving/text_model.h"

#include <algorithm>

#include "pax/base/error.h"
#include "pax/trainer/inputs.h"

namespace pax {
namespace {

constexpr int64_t kDefaultLength = 1024;
constexpr int32_t kPraxisEos = 2;

Tpl<Decoder> decoder_of(const ExperimentConfig& config) {
  return config.task.model.get_or<Tpl<Decoder>>("decoder_tpl", nullptr);
}

}  // namespace

int64_t text_length(const ExperimentConfig& config, int64_t asked) {
  const auto positions = config.task.model.get_or<int64_t>("lm_tpl.position_emb_tpl.max_seq_length", 0);
  int64_t length = asked;
  const Tpl<Decoder> decoder = decoder_of(config);
  if (length == 0 && decoder) length = decoder.get<int64_t>("seqlen");
  if (length == 0 && config.input && config.input.has_field("seq_len")) {
    length = config.input.get<std::optional<int64_t>>("seq_len").value_or(0);
  }
  if (length == 0) length = positions > 0 ? std::min(positions, kDefaultLength) : kDefaultLength;
  if (positions > 0 && length > positions) {
    fail<ConfigError>("seqlen: {} tokens, the model has {} learnt positions; make it at most that", length, positions);
  }
  return length;
}

TextModel::TextModel(const ExperimentConfig& config, const TextModelOptions& options)
    : add_bos_(options.add_bos), session_(config), tokenizer_(build_tokenizer(config)) {
  if (options.seqlen < 0) fail<ConfigError>("seqlen is {}; make it 1 or more", options.seqlen);
  LoadedVariables loaded = load_variables(session_, options.job_log_dir, options.step, options.weights);
  checkpoint_step_ = loaded.step;
  steps_ = std::make_unique<StepModel>(session_, std::move(loaded.values),
                                       CacheSize{options.rows, text_length(config, options.seqlen)});
}

int64_t TextModel::vocab_limit() const { return std::min<int64_t>(tokenizer_->vocab_size(), steps_->vocab_size()); }

SamplingOptions TextModel::default_sampling() const {
  SamplingOptions options = sampling_of(decoder_of(session_.config()));
  const std::optional<int32_t> eos = tokenizer_->special_ids().eos;
  if (eos && options.eos_id == std::vector<int32_t>{kPraxisEos}) options.eos_id.clear();
  if (eos && std::ranges::find(options.eos_id, *eos) == options.eos_id.end()) options.eos_id.push_back(*eos);
  return options;
}

std::vector<int32_t> TextModel::encode_prompt(std::string_view text) const {
  const data::SpecialIds special = tokenizer_->special_ids();
  const bool usual = special.bos && special.bos != special.eos && !tokenizer_->is_bytes();
  std::vector<int32_t> ids;
  if (special.bos && (text.empty() || add_bos_.value_or(usual))) ids.push_back(*special.bos);
  if (add_bos_.value_or(false) && !special.bos) {
    fail<ConfigError>("prompt: a beginning token was asked for but the tokenizer has none");
  }
  std::vector<int32_t> read = tokenizer_->encode(text);
  if (!ids.empty() && !read.empty() && read.front() == ids.front()) read.erase(read.begin());
  ids.insert(ids.end(), read.begin(), read.end());
  require_prompt(ids);
  return ids;
}

void TextModel::require_prompt(std::span<const int32_t> ids) const {
  if (ids.empty()) {
    fail<ConfigError>("prompt: it is empty, and the tokenizer has no token to begin with; give some text");
  }
  if (static_cast<int64_t>(ids.size()) >= steps_->length()) {
    fail<ConfigError>("prompt: {} tokens leave no room to write: a text has {} at most; shorten it or raise --seqlen",
                      ids.size(), steps_->length());
  }
  for (const int32_t id : ids) {
    if (id < 0 || id >= steps_->vocab_size()) {
      fail<ConfigError>(
          "prompt: token {} is not in the model's vocabulary of {}; use the tokenizer it was trained with", id,
          steps_->vocab_size());
    }
  }
}

}  // namespace pax
