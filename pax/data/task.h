#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pax/data/data_source.h"
#include "pax/data/mix_schedule.h"
#include "pax/data/permutation.h"
#include "pax/data/tokenizer.h"

namespace pax::data {

/// Length of each feature after trimming.
using FeatureLengths = std::map<std::string, int64_t>;

/// A feature that a task gives to the model (seqio.Feature).
struct OutputFeature {
  Tpl<Tokenizer> vocabulary = BytesTokenizer::Config{};
  bool add_eos = true;
  bool required = true;
  static void fields(auto& self, auto&& visit) {
    visit("vocabulary", self.vocabulary, "Text to ids.");
    visit("add_eos", self.add_eos, "Whether the preprocessors that append eos do so to this feature.");
    visit("required", self.required, "An example without it is an error.");
  }
};

/// What preprocessors may look at beside the example.
struct PreprocessContext {
  struct Feature {
    std::shared_ptr<Tokenizer> vocabulary;
    bool add_eos = true;
    bool required = true;
    /// Throws ConfigError when the vocabulary has no eos.
    int32_t eos() const;
  };
  const std::map<std::string, Feature>& features;
  const FeatureLengths& lengths;
  uint64_t random_key;  ///< of this record at this place of this epoch
};

/// One step from a raw example to the features of the model; it may drop the example or make several of it.
class Preprocessor {
 public:
  using Kind = Preprocessor;
  virtual ~Preprocessor() = default;
  /// Replaces `examples` by what comes of them.
  virtual void apply(std::vector<Example>& examples, const PreprocessContext& context) const = 0;
};

/// Preprocessed examples in one endless or finite order. Position p gives the same examples on every host and thread.
class ExampleSet {
 public:
  virtual ~ExampleSet() = default;
  /// Positions there are; nothing when endless.
  virtual std::optional<int64_t> size() const = 0;
  /// Appends the examples of `position`; mostly one, but preprocessors may make none or several.
  virtual void at(int64_t position, std::vector<Example>& examples) const = 0;
  virtual DatasetIdentity identity() const = 0;
  /// The vocabulary of a feature, or nullptr.
  virtual const Tokenizer* vocabulary(const std::string& feature) const = 0;
};

/// How an order over a task is made.
struct SetOptions {
  std::string split = "train";
  FeatureLengths lengths;
  EpochOrder::Mode mode = EpochOrder::Mode::kSequential;
  std::optional<int64_t> epochs = 1;  ///< nothing: endless
  uint64_t seed = 0;
  bool trim_output_features = true;
};

/// A SeqIO task or mixture.
class TaskOrMixture {
 public:
  using Kind = TaskOrMixture;
  virtual ~TaskOrMixture() = default;
  virtual std::unique_ptr<ExampleSet> open(const SetOptions& options) const = 0;
  virtual const std::string& name() const = 0;
  /// Records of the split, before preprocessing.
  virtual int64_t num_records(const std::string& split) const = 0;
};

/// A data source with the steps that make model features of its records (seqio.Task).
class Task final : public TaskOrMixture {
 public:
  struct Config {
    using Product = Task;
    static constexpr std::string_view kName = "seqio.Task";
    static constexpr std::string_view kDoc = "A data source, preprocessors and output features.";
    Required<std::string> name{};
    std::map<std::string, Tpl<DataSource>> splits{};
    std::vector<Tpl<Preprocessor>> preprocessors{};
    std::map<std::string, OutputFeature> output_features{};
    static void fields(auto& self, auto&& visit) {
      visit("name", self.name, "Names the task in messages.");
      visit("splits", self.splits, "The data of each split: train, validation, test …");
      visit("preprocessors", self.preprocessors, "Steps from record to features, in order.");
      visit("output_features", self.output_features, "The features that reach the model.");
    }
  };

  explicit Task(const Config& config);

  std::unique_ptr<ExampleSet> open(const SetOptions& options) const override;
  const std::string& name() const override { return name_; }
  int64_t num_records(const std::string& split) const override { return source(split)->size(); }

 private:
  std::shared_ptr<DataSource> source(const std::string& split) const;

  Config config_;
  std::string name_;
  std::map<std::string, PreprocessContext::Feature> features_;
  std::vector<std::shared_ptr<Preprocessor>> preprocessors_;
};

/// Tasks mixed by rate (seqio.Mixture): over any window of n examples each task has its share of n to within one.
class Mixture final : public TaskOrMixture {
 public:
  struct Entry {
    Tpl<TaskOrMixture> task{};
    std::optional<double> rate{};
    static void fields(auto& self, auto&& visit) {
      visit("task", self.task, "A task or mixture.");
      visit("rate", self.rate, {.doc = "Its share, relative to the others. Unset: its number of records.", .min = 0});
    }
  };
  struct Config {
    using Product = Mixture;
    static constexpr std::string_view kName = "seqio.Mixture";
    static constexpr std::string_view kDoc = "Tasks mixed by rate.";
    Required<std::string> name{};
    std::vector<Entry> tasks{};
    double temperature = 1.0;
    std::optional<double> maximum{};
    static void fields(auto& self, auto&& visit) {
      visit("name", self.name, "Names the mixture in messages.");
      visit("tasks", self.tasks, "What is mixed.");
      visit("temperature", self.temperature, {.doc = "Rates are raised to 1 / temperature.", .min = 0});
      visit("maximum", self.maximum, "Rates are cut to this before the temperature.");
    }
  };

  explicit Mixture(const Config& config);

  /// With a finite number of epochs every part is read so often; what ends first leaves its share to the others.
  std::unique_ptr<ExampleSet> open(const SetOptions& options) const override;
  const std::string& name() const override { return name_; }
  int64_t num_records(const std::string& split) const override;

  /// The parts, to be evaluated one by one.
  const std::vector<std::shared_ptr<TaskOrMixture>>& tasks() const { return tasks_; }

 private:
  Config config_;
  std::string name_;
  std::vector<std::shared_ptr<TaskOrMixture>> tasks_;
};

}  // namespace pax::data

extern template const pax::config::ConfigType& pax::config::type_of<pax::data::Task::Config>();
extern template const pax::config::ConfigType& pax::config::type_of<pax::data::Mixture::Config>();
