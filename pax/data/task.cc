#include "pax/data/task.h"

#include <algorithm>

#include "pax/base/error.h"
#include "pax/base/hash.h"
#include "pax/base/text.h"

namespace pax::data {
namespace {

class TaskExamples final : public ExampleSet {
 public:
  TaskExamples(std::string task, std::shared_ptr<DataSource> source, SetOptions options,
               std::map<std::string, PreprocessContext::Feature> features,
               std::vector<std::shared_ptr<Preprocessor>> preprocessors)
      : task_(std::move(task)),
        source_(std::move(source)),
        options_(std::move(options)),
        features_(std::move(features)),
        preprocessors_(std::move(preprocessors)),
        order_(source_->size(), options_.seed, options_.mode) {
    if (source_->size() == 0) fail<RuntimeError>("task {}: split {} holds no records", task_, options_.split);
    source_->require_whole();
  }

  std::optional<int64_t> size() const override {
    if (!options_.epochs) return std::nullopt;
    return source_->size() * *options_.epochs;
  }

  void at(int64_t position, std::vector<Example>& examples) const override {
    const int64_t record = order_(position);
    std::vector<Example> made{source_->at(record)};
    const PreprocessContext context{features_, options_.lengths,
                                    mix_key(options_.seed, static_cast<uint64_t>(position))};
    try {
      for (const auto& preprocessor : preprocessors_) preprocessor->apply(made, context);
      for (Example& example : made) check_and_trim(example);
    } catch (const RuntimeError& error) {
      fail<RuntimeError>("task {}: record {}: {}", task_, record, error.what());
    }
    std::ranges::move(made, std::back_inserter(examples));
  }

  DatasetIdentity identity() const override {
    DatasetIdentity identity = source_->identity();
    Digest digest;
    digest.update(identity.fingerprint);
    std::string tokenizers;
    for (const auto& [name, feature] : features_) {
      digest.update(fmt::format("{} {} {}\n", name, feature.vocabulary->fingerprint(), feature.add_eos));
      tokenizers += fmt::format(", {}: tokenizer {}", name, feature.vocabulary->fingerprint());
    }
    for (const auto& [name, length] : options_.lengths) digest.update(fmt::format("{} {}\n", name, length));
    return {fmt::format("task {} on {}{}", task_, identity.name, tokenizers), digest.hex()};
  }

  const Tokenizer* vocabulary(const std::string& feature) const override {
    const auto found = features_.find(feature);
    return found == features_.end() ? nullptr : found->second.vocabulary.get();
  }

 private:
  void check_and_trim(Example& example) const {
    for (const auto& [name, feature] : features_) {
      if (example.find(name) == nullptr) {
        if (feature.required) example.ints(name);  // throws, naming the fields there are
        continue;
      }
      const Ints& ids = example.ints(name);
      const auto length = options_.lengths.find(name);
      if (!options_.trim_output_features || length == options_.lengths.end()) continue;
      const auto limit = static_cast<size_t>(length->second);
      if (ids.size() > limit) example.set(name, Ints(ids.begin(), ids.begin() + static_cast<int64_t>(limit)));
    }
  }

  std::string task_;
  std::shared_ptr<DataSource> source_;
  SetOptions options_;
  std::map<std::string, PreprocessContext::Feature> features_;
  std::vector<std::shared_ptr<Preprocessor>> preprocessors_;
  EpochOrder order_;
};

class MixtureExamples final : public ExampleSet {
 public:
  MixtureExamples(std::string name, std::vector<std::unique_ptr<ExampleSet>> parts, const std::vector<double>& rates)
      : name_(std::move(name)), parts_(std::move(parts)), schedule_(rates) {
    for (const double rate : rates) rates_text_ += fmt::format(" {}", exact_double(rate));
    std::vector<int64_t> sizes;
    for (const auto& part : parts_) {
      if (const auto size = part->size()) sizes.push_back(*size);
    }
    if (sizes.size() == parts_.size()) finite_.emplace(rates, sizes);
  }
  std::optional<int64_t> size() const override {
    return finite_ ? std::optional<int64_t>(finite_->size()) : std::nullopt;
  }
  void at(int64_t position, std::vector<Example>& examples) const override {
    const MixSchedule::Place place = finite_ ? finite_->at(position) : schedule_.at(position);
    parts_[place.part]->at(place.index, examples);
  }
  DatasetIdentity identity() const override {
    Digest digest;
    for (const auto& part : parts_) digest.update(part->identity().fingerprint);
    digest.update(rates_text_);
    return {fmt::format("mixture {} of {} tasks", name_, parts_.size()), digest.hex()};
  }
  const Tokenizer* vocabulary(const std::string& feature) const override { return parts_.front()->vocabulary(feature); }

 private:
  std::string name_;
  std::vector<std::unique_ptr<ExampleSet>> parts_;
  MixSchedule schedule_;
  std::optional<FiniteMix> finite_;  ///< when every part ends
  std::string rates_text_;
};

}  // namespace

int32_t PreprocessContext::Feature::eos() const {
  const std::optional<int32_t> id = vocabulary->special_ids().eos;
  if (!id) fail<ConfigError>("tokenizer {} has no eos; set add_eos=false for this feature", vocabulary->fingerprint());
  return *id;
}

Task::Task(const Config& config) : config_(config), name_(*config.name) {
  for (const auto& [name, feature] : config.output_features) {
    features_[name] = {feature.vocabulary.build(), feature.add_eos, feature.required};
  }
  for (const auto& preprocessor : config.preprocessors) preprocessors_.push_back(preprocessor.build());
}

std::shared_ptr<DataSource> Task::source(const std::string& split) const {
  const auto found = config_.splits.find(split);
  if (found != config_.splits.end()) return found->second.build();
  std::vector<std::string> names;
  for (const auto& [name, source] : config_.splits) names.push_back(name);
  fail<ConfigError>("task {}: has no split \"{}\"; it has: {}.{}", name_, split, join(names, ", "),
                    did_you_mean(split, names));
}

std::unique_ptr<ExampleSet> Task::open(const SetOptions& options) const {
  for (const auto& [name, length] : options.lengths) {
    if (length < 1) fail<ConfigError>("task {}: the length of feature {} is {}", name_, name, length);
  }
  return std::make_unique<TaskExamples>(name_, source(options.split), options, features_, preprocessors_);
}

Mixture::Mixture(const Config& config) : config_(config), name_(*config.name) {
  if (config.tasks.empty()) fail<ConfigError>("mixture {}: has no tasks", name_);
  for (const Entry& entry : config.tasks) tasks_.push_back(entry.task.build());
}

int64_t Mixture::num_records(const std::string& split) const {
  int64_t total = 0;
  for (const auto& task : tasks_) total += task->num_records(split);
  return total;
}

std::unique_ptr<ExampleSet> Mixture::open(const SetOptions& options) const {
  std::vector<std::unique_ptr<ExampleSet>> parts;
  std::vector<double> rates;
  for (size_t i = 0; i < tasks_.size(); ++i) {
    SetOptions part = options;
    part.seed = mix_key(options.seed, i + 1);
    parts.push_back(tasks_[i]->open(part));
    double rate = config_.tasks[i].rate.value_or(-1);
    if (rate < 0) rate = static_cast<double>(tasks_[i]->num_records(options.split));
    rates.push_back(mixing_rate(rate, config_.maximum.value_or(rate), config_.temperature));
  }
  return std::make_unique<MixtureExamples>(name_, std::move(parts), rates);
}

}  // namespace pax::data

template const pax::config::ConfigType& pax::config::type_of<pax::data::Task::Config>();
template const pax::config::ConfigType& pax::config::type_of<pax::data::Mixture::Config>();
