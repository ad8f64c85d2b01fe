#include "pax/data/feature_converter.h"

#include <algorithm>
#include <cstdlib>

#include "pax/base/error.h"
#include "pax/base/text.h"

namespace pax::data {
namespace {

using Row = std::vector<int32_t>;

int64_t length_of(const FeatureLengths& lengths, const std::string& name, std::string_view converter) {
  const auto found = lengths.find(name);
  if (found != lengths.end()) return found->second;
  std::vector<std::string> names;
  for (const auto& [present, length] : lengths) names.push_back(present);
  fail<ConfigError>("{}: task_feature_lengths has no \"{}\"; it has: {}", converter, name, join(names, ", "));
}

Row ids_of(const Example& example, std::string_view name) {
  const Ints& ids = example.ints(name);
  Row row;
  row.reserve(ids.size());
  for (const int64_t id : ids) {
    if (id < INT32_MIN || id > INT32_MAX) fail<RuntimeError>("feature \"{}\": {} is no 32-bit id", name, id);
    row.push_back(static_cast<int32_t>(id));
  }
  return row;
}

HostArray ints(const Row& row) { return HostArray::of<int32_t>(row, {static_cast<int64_t>(row.size())}); }
HostArray floats(const std::vector<float>& row) {
  return HostArray::of<float>(row, {static_cast<int64_t>(row.size())});
}

/// A feature of a packed row, or of an unpacked one: then one segment with the padding as segment 0.
struct Segments {
  Row ids, positions;
};
Segments segments_of(const IntRow& row, const std::string& feature, const std::vector<float>& paddings) {
  const auto ids = row.find(feature + "_segment_ids");
  if (ids != row.end()) return {ids->second, row.at(feature + "_positions")};
  Segments one;
  for (size_t i = 0; i < paddings.size(); ++i) {
    one.ids.push_back(paddings[i] == 0 ? 1 : 0);
    one.positions.push_back(paddings[i] == 0 ? static_cast<int32_t>(i) : 0);
  }
  return one;
}

template <class T>
void shift_left(std::vector<T>& row, T last) {
  std::ranges::rotate(row, row.begin() + 1);
  row.back() = last;
}

}  // namespace

std::vector<int32_t> autoregressive_inputs(std::span<const int32_t> targets, std::span<const int32_t> segments,
                                           int32_t bos) {
  std::vector<int32_t> inputs(targets.size(), bos);
  for (size_t i = 1; i < targets.size(); ++i) {
    if (segments.empty() || segments[i] == segments[i - 1]) inputs[i] = targets[i - 1];
  }
  return inputs;
}

FeatureLengths LanguageModelFeatures::row_lengths(const FeatureLengths& lengths) const {
  int64_t length = length_of(lengths, "targets", "LanguageModelFeatures");
  if (!lengths.contains("inputs")) return {{"targets", length}};
  length += lengths.at("inputs");
  return {{"targets", length}, {"inputs_width", length}};
}

IntRow LanguageModelFeatures::prepare(const Example& example) const {
  Row targets = ids_of(example, "targets");
  if (example.find("inputs") == nullptr) return {{"targets", std::move(targets)}};
  Row joined = ids_of(example, "inputs");
  // One more than the width of the inputs, so that no width is zero, which is padding.
  const auto width = static_cast<int32_t>(joined.size()) + 1;
  if (config_.pack) {
    while (!targets.empty() && targets.back() == 0) targets.pop_back();  // packing leaves them out
  } else if (targets.empty()) {
    targets.push_back(0);
  }
  joined.insert(joined.end(), targets.begin(), targets.end());
  Row widths(joined.size(), width);
  return {{"targets", std::move(joined)}, {"inputs_width", std::move(widths)}};
}

HostTree LanguageModelFeatures::convert(const IntRow& row) const {
  const Row& targets = row.at("targets");
  const auto widths = row.find("inputs_width");
  const auto packed = row.find("targets_segment_ids");
  const Row no_segments;
  const Row& segment_ids = packed == row.end() ? no_segments : packed->second;
  Row ids = autoregressive_inputs(targets, segment_ids, static_cast<int32_t>(config_.bos_id));
  Row labels = targets;
  Row indicator(targets.size());
  std::vector<float> weights(targets.size());
  std::vector<float> paddings(targets.size());
  for (size_t i = 0; i < targets.size(); ++i) {
    const bool token = targets[i] != 0;
    bool scored = token;
    if (widths != row.end()) {
      const int32_t position = segment_ids.empty() ? static_cast<int32_t>(i) : row.at("targets_positions")[i];
      indicator[i] = position < widths->second[i] ? 1 : 0;
      const bool input = position < widths->second[i] - 1;
      scored = input != token;
    }
    const bool real = scored || indicator[i] != 0;
    paddings[i] = real ? 0.0F : 1.0F;
    const bool counts_negative = config_.weights_on_targets_only == false;
    const bool targets_only = config_.weights_on_targets_only == true;
    weights[i] = real && (counts_negative || labels[i] >= 0) && (!targets_only || scored) ? 1.0F : 0.0F;
    ids[i] = std::abs(ids[i]);
    labels[i] = std::abs(labels[i]);
  }
  const Segments segments = segments_of(row, "targets", paddings);
  if (config_.reverse_bos_padding) {
    ids = labels;
    shift_left(labels, static_cast<int32_t>(config_.eos_id));
    shift_left(weights, 0.0F);
    shift_left(paddings, 1.0F);
  }
  HostTree fields{{"ids", ints(ids)},
                  {"labels", ints(labels)},
                  {"weights", floats(weights)},
                  {"paddings", floats(paddings)},
                  {"segment_ids", ints(segments.ids)},
                  {"segment_pos", ints(segments.positions)}};
  if (widths != row.end()) fields.emplace("inputs_indicator", ints(indicator));
  return fields;
}

FeatureLengths SequenceModelFeatures::row_lengths(const FeatureLengths& lengths) const {
  return {{"inputs", length_of(lengths, "inputs", "SequenceModelFeatures")},
          {"targets", length_of(lengths, "targets", "SequenceModelFeatures")}};
}

IntRow SequenceModelFeatures::prepare(const Example& example) const {
  return {{"inputs", ids_of(example, "inputs")}, {"targets", ids_of(example, "targets")}};
}

HostTree SequenceModelFeatures::convert(const IntRow& row) const {
  HostTree fields;
  for (const auto& [feature, side] : {std::pair("inputs", "src"), std::pair("targets", "tgt")}) {
    const Row& ids = row.at(feature);
    std::vector<float> weights(ids.size());
    std::vector<float> paddings(ids.size());
    for (size_t i = 0; i < ids.size(); ++i) {
      weights[i] = ids[i] != 0 ? 1.0F : 0.0F;
      paddings[i] = 1.0F - weights[i];
    }
    const Segments segments = segments_of(row, feature, paddings);
    const std::string prefix = std::string(side) + "/";
    const auto packed = row.find(std::string(feature) + "_segment_ids");
    if (prefix == "tgt/") {
      fields[prefix + "labels"] = ints(ids);
      fields[prefix + "weights"] = floats(weights);
      fields[prefix + "ids"] =
          ints(autoregressive_inputs(ids, packed == row.end() ? std::span<const int32_t>() : packed->second,
                                     static_cast<int32_t>(config_.bos_id)));
    } else {
      fields[prefix + "ids"] = ints(ids);
    }
    fields[prefix + "paddings"] = floats(paddings);
    fields[prefix + "segment_ids"] = ints(segments.ids);
    fields[prefix + "segment_pos"] = ints(segments.positions);
  }
  return fields;
}

FeatureLengths PassThroughFeatures::row_lengths(const FeatureLengths& lengths) const {
  FeatureLengths kept;
  for (const auto& [name, length] : lengths) {
    if (!name.starts_with("provenance")) kept.emplace(name, length);
  }
  return kept;
}

IntRow PassThroughFeatures::prepare(const Example& example) const {
  IntRow row;
  for (const auto& [name, feature] : example.fields()) {
    if (std::holds_alternative<Ints>(feature)) row[name] = ids_of(example, name);
  }
  return row;
}

HostTree PassThroughFeatures::convert(const IntRow& row) const {
  HostTree fields;
  for (const auto& [name, ids] : row) fields.emplace(name, ints(ids));
  return fields;
}

}  // namespace pax::data

template const pax::config::ConfigType& pax::config::type_of<pax::data::LanguageModelFeatures::Config>();
template const pax::config::ConfigType& pax::config::type_of<pax::data::SequenceModelFeatures::Config>();
template const pax::config::ConfigType& pax::config::type_of<pax::data::PassThroughFeatures::Config>();
