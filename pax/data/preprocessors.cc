#include "pax/data/preprocessors.h"

#include <algorithm>
#include <cmath>

#include "pax/base/error.h"

namespace pax::data {
namespace {

/// A number below `limit` from a key and a counter.
uint64_t draw(uint64_t key, uint64_t counter, uint64_t limit) { return mix_key(key, counter) % limit; }

/// `total` split into `parts` random sizes, each at least one.
std::vector<int64_t> random_partition(int64_t total, int64_t parts, uint64_t key) {
  // parts - 1 of the total - 1 gaps between items are cuts: the first places of a permutation.
  const Permutation order(total - 1, key);
  std::vector<int64_t> cuts;
  for (int64_t i = 0; i + 1 < parts; ++i) cuts.push_back(order(i) + 1);
  std::ranges::sort(cuts);
  cuts.push_back(total);
  std::vector<int64_t> sizes;
  int64_t last = 0;
  for (const int64_t cut : cuts) {
    sizes.push_back(cut - last);
    last = cut;
  }
  return sizes;
}

const PreprocessContext::Feature& feature_of(const PreprocessContext& context, const std::string& name) {
  const auto found = context.features.find(name);
  if (found == context.features.end()) fail<ConfigError>("the task has no output feature \"{}\"", name);
  return found->second;
}

void append_eos(Example& example, const PreprocessContext& context, bool trim) {
  for (const auto& [name, feature] : context.features) {
    if (!feature.add_eos || example.find(name) == nullptr) continue;
    Ints ids = example.ints(name);
    const auto length = context.lengths.find(name);
    if (trim && length != context.lengths.end()) {
      ids.resize(std::min(ids.size(), static_cast<size_t>(std::max<int64_t>(length->second - 1, 0))));
    }
    ids.push_back(feature.eos());
    example.set(name, std::move(ids));
  }
}

}  // namespace

void Rekey::apply(std::vector<Example>& examples, const PreprocessContext&) const {
  for (Example& example : examples) {
    Example renamed;
    for (const auto& [to, from] : config_.key_map) {
      if (from.empty()) {
        renamed.set_text(to, "");
      } else if (const Feature* feature = example.find(from)) {
        renamed.set(to, *feature);
      } else {
        example.text(from);  // throws, naming the fields there are
      }
    }
    example = std::move(renamed);
  }
}

void Tokenize::apply(std::vector<Example>& examples, const PreprocessContext& context) const {
  for (Example& example : examples) {
    for (const auto& [name, feature] : context.features) {
      const Feature* value = example.find(name);
      if (value == nullptr || !std::holds_alternative<Strings>(*value)) continue;
      std::string text = example.text(name);
      std::vector<int32_t> ids;
      feature.vocabulary->encode(text, ids);
      if (config_.with_eos && feature.add_eos) ids.push_back(feature.eos());
      example.set(name, Ints(ids.begin(), ids.end()));
      if (config_.copy_pretokenized) example.set_text(name + "_pretokenized", std::move(text));
    }
  }
}

void AppendEos::apply(std::vector<Example>& examples, const PreprocessContext& context) const {
  for (Example& example : examples) append_eos(example, context, /*trim=*/false);
}

void AppendEosAfterTrim::apply(std::vector<Example>& examples, const PreprocessContext& context) const {
  for (Example& example : examples) append_eos(example, context, /*trim=*/true);
}

void AddBosEos::apply(std::vector<Example>& examples, const PreprocessContext& context) const {
  const auto& feature = feature_of(context, config_.feature);
  for (Example& example : examples) {
    Ints ids = example.ints(config_.feature);
    if (config_.bos) {
      const std::optional<int32_t> bos = feature.vocabulary->special_ids().bos;
      if (!bos) fail<ConfigError>("tokenizer {} has no bos; set bos=false", feature.vocabulary->fingerprint());
      ids.insert(ids.begin(), *bos);
    }
    if (config_.eos) ids.push_back(feature.eos());
    example.set(config_.feature, std::move(ids));
  }
}

void SplitTokens::apply(std::vector<Example>& examples, const PreprocessContext& context) const {
  const auto length = context.lengths.find(config_.feature);
  const int64_t given = config_.max_tokens_per_segment.value_or(length == context.lengths.end() ? 0 : length->second);
  if (given < 1) fail<ConfigError>("split_tokens: feature \"{}\" has no length", config_.feature);
  const auto limit = static_cast<size_t>(given);
  std::vector<Example> pieces;
  for (Example& example : examples) {
    const Ints ids = example.ints(config_.feature);
    for (size_t start = 0; start < ids.size(); start += limit) {
      Example piece = example;
      const size_t end = std::min(start + limit, ids.size());
      piece.set(config_.feature,
                Ints(ids.begin() + static_cast<int64_t>(start), ids.begin() + static_cast<int64_t>(end)));
      pieces.push_back(std::move(piece));
    }
  }
  examples = std::move(pieces);
}

std::vector<bool> random_spans(int64_t length, double noise_density, double mean_span, uint64_t key) {
  // C. Raffel et al., "Exploring the limits of transfer learning", 2020, section 3.3.4.
  std::vector<bool> noise(static_cast<size_t>(length));
  if (length < 2) return noise;
  const auto wanted = static_cast<int64_t>(std::nearbyint(static_cast<double>(length) * noise_density));
  const int64_t num_noise = std::clamp<int64_t>(wanted, 1, length - 1);
  const auto spans = static_cast<int64_t>(std::nearbyint(static_cast<double>(num_noise) / mean_span));
  const int64_t num_spans = std::clamp<int64_t>(spans, 1, std::min(num_noise, length - num_noise));
  const std::vector<int64_t> noisy = random_partition(num_noise, num_spans, mix_key(key, 1));
  const std::vector<int64_t> clean = random_partition(length - num_noise, num_spans, mix_key(key, 2));
  size_t at = 0;
  for (size_t i = 0; i < noisy.size(); ++i) {
    at += static_cast<size_t>(clean[i]);
    for (int64_t k = 0; k < noisy[i]; ++k) noise[at++] = true;
  }
  return noise;
}

Ints with_sentinels(const Ints& ids, const std::vector<bool>& noise, bool hidden, int64_t first) {
  Ints out;
  for (size_t i = 0; i < ids.size(); ++i) {
    if (noise[i] != hidden) {
      out.push_back(ids[i]);
    } else if (i == 0 || noise[i - 1] != hidden) {
      out.push_back(first--);
    }
  }
  return out;
}

void SpanCorruption::apply(std::vector<Example>& examples, const PreprocessContext& context) const {
  const auto& feature = feature_of(context, "targets");
  uint64_t number = 0;
  for (Example& example : examples) {
    const Ints ids = example.ints("targets");
    const std::vector<bool> noise = random_spans(static_cast<int64_t>(ids.size()), config_.noise_density,
                                                 config_.mean_noise_span_length, mix_key(context.random_key, number++));
    const int64_t first = feature.vocabulary->vocab_size() + config_.extra_ids - 1;
    // A sentinel for each noise span in the inputs, and for each clean span in the targets.
    example.set("inputs", with_sentinels(ids, noise, true, first));
    example.set("targets", with_sentinels(ids, noise, false, first));
  }
}

void PrefixLm::apply(std::vector<Example>& examples, const PreprocessContext& context) const {
  uint64_t number = 0;
  for (Example& example : examples) {
    const Ints ids = example.ints("targets");
    const auto cut = static_cast<int64_t>(draw(context.random_key, number++, ids.size() + 1));
    example.set("inputs", Ints(ids.begin(), ids.begin() + cut));
    example.set("targets", Ints(ids.begin() + cut, ids.end()));
  }
}

}  // namespace pax::data

template const pax::config::ConfigType& pax::config::type_of<pax::data::Rekey::Config>();
template const pax::config::ConfigType& pax::config::type_of<pax::data::Tokenize::Config>();
template const pax::config::ConfigType& pax::config::type_of<pax::data::AppendEos::Config>();
template const pax::config::ConfigType& pax::config::type_of<pax::data::AppendEosAfterTrim::Config>();
template const pax::config::ConfigType& pax::config::type_of<pax::data::AddBosEos::Config>();
template const pax::config::ConfigType& pax::config::type_of<pax::data::SplitTokens::Config>();
template const pax::config::ConfigType& pax::config::type_of<pax::data::SpanCorruption::Config>();
template const pax::config::ConfigType& pax::config::type_of<pax::data::PrefixLm::Config>();
