#include "pax/data/input.h"

#include <algorithm>
#include <array>
#include <utility>

#include "pax/base/error.h"
#include "pax/data/tokenizer.h"

namespace pax::data {

std::span<const std::pair<OnChange, std::string_view>> enum_names(OnChange) {
  static constexpr std::array<std::pair<OnChange, std::string_view>, 2> kNames{
      {{OnChange::kRefuse, "refuse"}, {OnChange::kRestart, "restart"}}};
  return kNames;
}

void InputConfig::validate(config::Errors& errors) const {
  if (infeed_host_index < 0 || infeed_host_index >= num_infeed_hosts) {
    errors.add("infeed_host_index", fmt::format("is {} but num_infeed_hosts is {}: it must be in [0, {})",
                                                infeed_host_index, num_infeed_hosts, num_infeed_hosts));
  }
  if (tf_data_service_address.has_value()) {
    errors.add("tf_data_service_address", "is not supported: inputs read their files themselves; leave it unset");
  }
}

Input::Input(const InputConfig& config) : common_(config) {
  config::Errors errors;
  config.validate(errors);
  if (*config.batch_size < 1) errors.add("batch_size", fmt::format("is {}: it must be at least 1", *config.batch_size));
  errors.throw_if_any();
}

HostShare Input::share() const { return {*common_.batch_size, common_.num_infeed_hosts, common_.infeed_host_index}; }

std::optional<HostTree> Input::next() {
  if (std::exchange(has_peeked_, false)) return std::exchange(peeked_, std::nullopt);
  std::optional<HostTree> batch = produce();
  if (batch && !std::exchange(checked_, true)) check_first(*batch);
  return batch;
}

const std::optional<HostTree>& Input::peek() {
  if (!has_peeked_) {
    position_before_peek_ = save_position();
    peeked_ = next();
    has_peeked_ = true;
  }
  return peeked_;
}

std::optional<HostTree> Input::next_padded() {
  std::optional<HostTree> batch = next();
  if (batch && common_.batch_padding_size > 0) return pad_rows(*batch, common_.batch_padding_size);
  return batch;
}

std::optional<HostTree> Input::peek_padded() {
  const std::optional<HostTree>& batch = peek();
  if (!batch) return std::nullopt;
  return pad_rows(*batch, common_.batch_padding_size);
}

void Input::reset() {
  has_peeked_ = false;
  peeked_.reset();
  rewind();
}

std::string Input::save() const { return has_peeked_ ? position_before_peek_ : save_position(); }

void Input::restore(std::span<const std::string> states) {
  if (states.empty()) fail<RuntimeError>("input {}: no saved position was given to restore", name());
  has_peeked_ = false;
  peeked_.reset();
  restore_position(states);
}

std::vector<std::string> Input::ids_to_strings(const HostArray& ids, std::span<const int64_t> lengths) const {
  const Tokenizer* const words = tokenizer();
  if (words == nullptr) fail<RuntimeError>("input {}: has no tokenizer to turn ids into text", name());
  if (ids.shape().rank() != 2) {
    fail<RuntimeError>("input {}: ids_to_strings takes ids[b,t], not {}", name(), to_string(ids.type()));
  }
  const auto rows = static_cast<size_t>(ids.shape()[0]);
  const auto width = static_cast<size_t>(ids.shape()[1]);
  if (!lengths.empty() && lengths.size() != rows) {
    fail<RuntimeError>("input {}: {} lengths for {} rows of ids", name(), lengths.size(), rows);
  }
  std::vector<std::string> texts;
  for (size_t row = 0; row < rows; ++row) {
    const size_t length = lengths.empty() ? width : static_cast<size_t>(std::clamp<int64_t>(lengths[row], 0, width));
    texts.push_back(words->decode(ids.values<int32_t>().subspan(row * width, length)));
  }
  return texts;
}

}  // namespace pax::data
