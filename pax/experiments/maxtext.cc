#include "pax/experiments/maxtext.h"

#include <fmt/format.h>

#include <deque>

#include "pax/config/registry.h"
#include "pax/interop/maxtext/maxtext.h"

namespace pax {
namespace {

/// Arguments that MaxText users give most; `SETTINGS` takes all others, as `key=value`.
struct MaxTextConstants {
  std::string MODEL_NAME;
  double PER_DEVICE_BATCH_SIZE = 1;
  int64_t MAX_TARGET_LENGTH = 2048;
  double LEARNING_RATE = 3e-5;
  int64_t STEPS = 150001;
  int64_t ICI_DATA_PARALLELISM = 1;
  int64_t ICI_FSDP_PARALLELISM = 1;
  int64_t ICI_TENSOR_PARALLELISM = 1;
  std::vector<std::string> SETTINGS;
  static void fields(MaxTextConstants& self, config::FieldVisitor& visit) {
    visit("MODEL_NAME", self.MODEL_NAME, "A preset of MaxText.");
    visit("PER_DEVICE_BATCH_SIZE", self.PER_DEVICE_BATCH_SIZE, {.doc = "May be a fraction.", .min = 0});
    visit("MAX_TARGET_LENGTH", self.MAX_TARGET_LENGTH, {.doc = "Ids in a row.", .min = 1});
    visit("LEARNING_RATE", self.LEARNING_RATE);
    visit("STEPS", self.STEPS, {.min = 0});
    visit("ICI_DATA_PARALLELISM", self.ICI_DATA_PARALLELISM, {.min = 1});
    visit("ICI_FSDP_PARALLELISM", self.ICI_FSDP_PARALLELISM, {.min = 1});
    visit("ICI_TENSOR_PARALLELISM", self.ICI_TENSOR_PARALLELISM, {.min = 1});
    visit("SETTINGS", self.SETTINGS, "More MaxText arguments, key=value each; they win over the preset.");
  }

  std::vector<std::string> arguments() const {
    std::vector<std::string> out{"model_name=" + MODEL_NAME,
                                 "override_model_config=true",
                                 "dataset_type=synthetic",
                                 fmt::format("per_device_batch_size={}", PER_DEVICE_BATCH_SIZE),
                                 fmt::format("max_target_length={}", MAX_TARGET_LENGTH),
                                 fmt::format("learning_rate={}", LEARNING_RATE),
                                 fmt::format("steps={}", STEPS),
                                 fmt::format("ici_data_parallelism={}", ICI_DATA_PARALLELISM),
                                 fmt::format("ici_fsdp_parallelism={}", ICI_FSDP_PARALLELISM),
                                 fmt::format("ici_tensor_parallelism={}", ICI_TENSOR_PARALLELISM),
                                 "hardware=cpu"};
    out.insert(out.end(), SETTINGS.begin(), SETTINGS.end());
    return out;
  }
  ExperimentConfig experiment() const { return from_maxtext({}, arguments()).config; }
};

class MaxTextExperiment final : public Experiment {
 public:
  explicit MaxTextExperiment(const MaxTextConstants& constants) : constants_(constants) {}
  ExperimentConfig config() const override { return constants_.experiment(); }

 private:
  const MaxTextConstants constants_;
};

/// The descriptor of one preset: that of the constants, with a name and a first value of its own.
template <size_t I>
struct MaxTextPreset : MaxTextConstants {
  using Product = MaxTextExperiment;
  MaxTextPreset() { MODEL_NAME = maxtext_models()[I]; }
};

constexpr size_t kNumModels = 40;

template <size_t I>
const config::ConfigType& preset_type(const std::string& name) {
  static const config::ConfigType type = [&] {
    config::ConfigType out = config::make_config_type<MaxTextPreset<I>>();
    out.name = name;
    out.doc = "A model preset of MaxText, on synthetic data.";
    return out;
  }();
  return type;
}

template <size_t... I>
void register_each(config::Registry& registry, std::index_sequence<I...>) {
  static const std::deque<std::string> names = [] {
    std::deque<std::string> out;
    for (const std::string_view model : maxtext_models()) out.push_back(fmt::format("maxtext.{}", model));
    return out;
  }();
  (registry.add(preset_type<I>(names[I])), ...);
}

}  // namespace

void register_maxtext(config::Registry& registry) { register_each(registry, std::make_index_sequence<kNumModels>{}); }

}  // namespace pax
