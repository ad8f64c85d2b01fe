#include "pax/experiments/vision/synthetic_images.h"

#include <charconv>
#include <random>

#include "pax/base/error.h"

namespace pax {

std::span<const std::pair<ImageFields, std::string_view>> enum_names(ImageFields) {
  static constexpr std::pair<ImageFields, std::string_view> kNames[] = {{ImageFields::kProbabilities, "probabilities"},
                                                                        {ImageFields::kIds, "ids"}};
  return kNames;
}

data::BatchSpec SyntheticImages::spec() const {
  const int64_t rows = share().batch_size;
  const TensorType image{DType::kF32, {rows, config_.height, config_.width, config_.channels}};
  if (config_.field_names == ImageFields::kIds) return {{"inputs", image}, {"labels", {DType::kS32, {rows}}}};
  return {
      {"image", image}, {"label_probs", {DType::kF32, {rows, config_.num_classes}}}, {"weight", {DType::kF32, {rows}}}};
}

std::optional<HostTree> SyntheticImages::produce() {
  std::mt19937_64 random(seed() * 1'000'003 + static_cast<uint64_t>(share().global_row(batch_++, 0)));
  const auto rows = static_cast<size_t>(share().batch_size);
  const auto pixels = static_cast<size_t>(config_.height * config_.width * config_.channels);
  const auto classes = static_cast<size_t>(config_.num_classes);
  const data::BatchSpec types = spec();
  const bool ids = config_.field_names == ImageFields::kIds;
  HostTree batch;
  for (const auto& [name, type] : types) batch.emplace(name, HostArray(type));
  const std::span<float> image = batch.at(ids ? "inputs" : "image").mutable_values<float>();
  std::vector<size_t> label(rows);
  for (size_t row = 0; row < rows; ++row) {
    label[row] = random() % classes;
    const float light = static_cast<float>(label[row]) / static_cast<float>(classes);
    for (size_t i = 0; i < pixels; ++i) {
      image[row * pixels + i] = light + 0.1F * static_cast<float>(random() % 1000) / 1000.0F;
    }
  }
  if (ids) {
    const std::span<int32_t> labels = batch.at("labels").mutable_values<int32_t>();
    for (size_t row = 0; row < rows; ++row) labels[row] = static_cast<int32_t>(label[row]);
    return batch;
  }
  const std::span<float> probs = batch.at("label_probs").mutable_values<float>();
  const std::span<float> weight = batch.at("weight").mutable_values<float>();
  for (size_t row = 0; row < rows; ++row) {
    for (size_t k = 0; k < classes; ++k) probs[row * classes + k] = k == label[row] ? 1.0F : 0.0F;
    weight[row] = 1.0F;
  }
  return batch;
}

void SyntheticImages::restore_position(std::span<const std::string> states) {
  const std::string& text = states[0];
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), batch_);
  if (error != std::errc() || end != text.data() + text.size()) {
    fail<RuntimeError>("input \"{}\": \"{}\" is no position", name(), text);
  }
}

template const config::ConfigType& config::type_of<SyntheticImages::Config>();

}  // namespace pax
