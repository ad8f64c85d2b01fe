#pragma once

#include "pax/data/input.h"

namespace pax {

/// How a batch of images names its parts: `image`, `label_probs`, `weight`; or `inputs` and integer `labels`.
enum class ImageFields : uint8_t { kProbabilities, kIds };
std::span<const std::pair<ImageFields, std::string_view>> enum_names(ImageFields);

/// Images of noise, without end; the class of each is told by its brightness.
class SyntheticImages final : public data::Input {
 public:
  struct Config : data::InputConfig {
    using Product = SyntheticImages;
    static constexpr std::string_view kName = "pax.data.SyntheticImages";
    static constexpr std::string_view kDoc = "Images of noise, whose class is told by their brightness.";
    int64_t height = 28;
    int64_t width = 28;
    int64_t channels = 1;
    int64_t num_classes = 10;
    ImageFields field_names = ImageFields::kProbabilities;
    static void fields(auto& self, auto&& visit) {
      InputConfig::fields(self, visit);
      visit("height", self.height, {.doc = "", .min = 1, .max = 10000});
      visit("width", self.width, {.doc = "", .min = 1, .max = 10000});
      visit("channels", self.channels, {.doc = "", .min = 1, .max = 1000});
      visit("num_classes", self.num_classes, {.doc = "", .min = 1, .max = 1000000});
      visit("field_names", self.field_names, "probabilities: image, label_probs, weight; ids: inputs, labels.");
    }
  };
  explicit SyntheticImages(const Config& config) : Input(config), config_(config) {}
  data::BatchSpec spec() const override;

 protected:
  std::optional<HostTree> produce() override;
  void rewind() override { batch_ = 0; }
  std::string save_position() const override { return std::to_string(batch_); }
  void restore_position(std::span<const std::string> states) override;

 private:
  const Config config_;
  int64_t batch_ = 0;
};
extern template const config::ConfigType& config::type_of<SyntheticImages::Config>();

}  // namespace pax
