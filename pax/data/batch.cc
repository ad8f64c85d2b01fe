#include "pax/data/batch.h"

#include <algorithm>
#include <cstring>

#include "pax/base/error.h"
#include "pax/base/text.h"

namespace pax::data {

// b: rows of the batch, t: positions in a row.
BatchSpec lm_batch_spec(int64_t batch_size, int64_t seq_len) {
  const TensorType ints{DType::kS32, {batch_size, seq_len}};
  const TensorType floats{DType::kF32, {batch_size, seq_len}};
  return {{"ids", ints},        {"labels", ints},      {"weights", floats},
          {"paddings", floats}, {"segment_ids", ints}, {"segment_pos", ints}};
}

LmBatch::LmBatch(int64_t batch_size, int64_t seq_len)
    : seq_len_(seq_len), used_(static_cast<size_t>(batch_size)), segments_(static_cast<size_t>(batch_size)) {
  const TensorType ints{DType::kS32, {batch_size, seq_len}};
  const TensorType floats{DType::kF32, {batch_size, seq_len}};
  for (HostArray* array : {&ids_, &labels_, &segment_ids_, &segment_pos_}) *array = HostArray(ints);
  for (HostArray* array : {&weights_, &paddings_}) *array = HostArray(floats);
  std::ranges::fill(paddings_.mutable_values<float>(), 1.0F);
}

void LmBatch::append(int64_t row, std::span<const int32_t> ids, std::span<const int32_t> labels,
                     std::span<const float> weights) {
  const auto length = static_cast<int64_t>(ids.size());
  if (length > room(row) || labels.size() != ids.size() || weights.size() != ids.size()) {
    fail<RuntimeError>("batch row {}: segment of {} ids, {} labels, {} weights does not fit in {} free positions", row,
                       ids.size(), labels.size(), weights.size(), room(row));
  }
  if (length == 0) return;
  int64_t& used = used_[static_cast<size_t>(row)];
  const auto at = static_cast<size_t>(row * seq_len_ + used);
  std::ranges::copy(ids, ids_.mutable_values<int32_t>().begin() + at);
  std::ranges::copy(labels, labels_.mutable_values<int32_t>().begin() + at);
  std::ranges::copy(weights, weights_.mutable_values<float>().begin() + at);
  std::ranges::fill(paddings_.mutable_values<float>().subspan(at, ids.size()), 0.0F);
  std::ranges::fill(segment_ids_.mutable_values<int32_t>().subspan(at, ids.size()),
                    ++segments_[static_cast<size_t>(row)]);
  int32_t position = 0;
  for (int32_t& p : segment_pos_.mutable_values<int32_t>().subspan(at, ids.size())) p = position++;
  used += length;
}

HostTree LmBatch::take() {
  HostTree batch;
  batch.emplace("ids", std::move(ids_));
  batch.emplace("labels", std::move(labels_));
  batch.emplace("weights", std::move(weights_));
  batch.emplace("paddings", std::move(paddings_));
  batch.emplace("segment_ids", std::move(segment_ids_));
  batch.emplace("segment_pos", std::move(segment_pos_));
  return batch;
}

TokenCount count_tokens(const HostTree& batch) {
  TokenCount count;
  if (const auto ids = batch.find("ids"); ids != batch.end()) count.slots = ids->second.shape().num_elements();
  if (const auto paddings = batch.find("paddings"); paddings != batch.end()) {
    for (const float padding : paddings->second.values<float>()) count.tokens += padding == 0 ? 1 : 0;
  } else {
    count.tokens = count.slots;
  }
  if (const auto weights = batch.find("weights"); weights != batch.end()) {
    for (const float weight : weights->second.values<float>()) count.weight += weight;
  }
  if (const auto segments = batch.find("segment_ids"); segments != batch.end()) {
    const auto ids = segments->second.values<int32_t>();
    const auto width = static_cast<size_t>(segments->second.shape()[-1]);
    for (size_t i = 0; i < ids.size(); ++i) {
      count.segments += ids[i] != 0 && (i % width == 0 || ids[i] != ids[i - 1]) ? 1 : 0;
    }
  }
  return count;
}

void require_spec(const HostTree& batch, const BatchSpec& spec, const std::string& input_name) {
  std::vector<std::string> present;
  for (const auto& [name, array] : batch) present.push_back(name);
  for (const auto& [name, type] : spec) {
    const auto found = batch.find(name);
    if (found == batch.end()) {
      fail<RuntimeError>("input {}: the batch has no field \"{}\" ({}); it has: {}", input_name, name, to_string(type),
                         join(present, ", "));
    }
    if (found->second.type() != type) {
      fail<RuntimeError>("input {}: field \"{}\" is {} but {} is expected", input_name, name,
                         to_string(found->second.type()), to_string(type));
    }
  }
  for (const std::string& name : present) {
    if (!spec.contains(name)) {
      fail<RuntimeError>("input {}: the batch has an unexpected field \"{}\" ({})", input_name, name,
                         to_string(batch.at(name).type()));
    }
  }
}

void require_ids_below(const HostTree& batch, int64_t vocab_size) {
  const auto weights = batch.find("weights");
  for (const char* name : {"ids", "labels"}) {
    const auto found = batch.find(name);
    if (found == batch.end()) continue;
    const auto ids = found->second.values<int32_t>();
    const auto columns = static_cast<size_t>(found->second.shape()[-1]);
    const bool is_label = std::string_view(name) == "labels";
    for (size_t i = 0; i < ids.size(); ++i) {
      if (ids[i] >= 0 && ids[i] < vocab_size) continue;
      if (is_label && weights != batch.end() && weights->second.values<float>()[i] == 0) continue;
      fail<RuntimeError>(
          "batch field \"{}\", row {}, column {}: id {} is outside the vocabulary of {} ids; use the tokenizer the "
          "model was made for or raise the model's vocab_size",
          name, i / columns, i % columns, ids[i], vocab_size);
    }
  }
}

HostTree pad_rows(const HostTree& batch, int64_t rows) {
  if (rows == 0) return batch;
  HostTree padded;
  for (const auto& [name, array] : batch) {
    Shape shape = array.shape();
    shape[0] += rows;
    HostArray wide(TensorType{array.dtype(), shape});
    std::memcpy(wide.mutable_bytes().data(), array.bytes().data(), array.size_bytes());
    if (name == "paddings" && array.dtype() == DType::kF32) {
      std::ranges::fill(wide.mutable_values<float>().subspan(static_cast<size_t>(array.shape().num_elements())), 1.0F);
    }
    padded.emplace(name, std::move(wide));
  }
  return padded;
}

}  // namespace pax::data
