#include "pax/serving/step_model.h"

#include <fmt/format.h>

#include <algorithm>

#include "pax/base/error.h"

namespace pax {
namespace {

constexpr int64_t kShortestPrefill = 32;

uint64_t bytes_of(const TensorType& type) {
  return static_cast<uint64_t>(type.shape.num_elements()) * byte_size(type.dtype);
}

}  // namespace

StepModel::StepModel(Session& session, DeviceTree variables, const CacheSize& size)
    : session_(session), size_(size), state_(std::move(variables)) {
  const SingleTask& task = session.config().task;
  for (const auto& [name, type] : cache_types(task, size)) {
    state_.insert_or_assign(name, DeviceArray::put(session.mesh(), HostArray(type)));
    cache_bytes_ += bytes_of(type);
  }
  // Over several devices, stacks stay as they are split.
  const bool apart = session.mesh()->num_devices() == 1;
  const RepeatedWeights weights = apart ? RepeatedWeights::kApart : RepeatedWeights::kStacked;
  step_ = session.compile(trace_extend_step(task, size, weights), "extend_step");
  add_parts_of_stacks();
  for (const ProgramValue& argument : step_->text().arguments) {
    if (argument.name.starts_with("params/")) weight_bytes_ += bytes_of(argument.type);
  }
  for (const ProgramValue& result : step_->text().results) {
    if (result.name == "logits") vocab_size_ = result.type.shape[1];
  }
}

void StepModel::add_parts_of_stacks() {
  HostTree stacks;
  for (const ProgramValue& argument : step_->text().arguments) {
    const size_t mark = argument.name.find('#');
    if (!argument.name.starts_with("params/") || mark == std::string::npos) continue;
    const std::string stack = argument.name.substr(0, mark);
    if (!stacks.contains(stack)) stacks.emplace(stack, state_.at(stack).to_host());
    const HostArray& whole = stacks.at(stack);
    const size_t bytes = bytes_of(argument.type);
    const size_t begin = std::stoul(argument.name.substr(mark + 1)) * bytes;
    HostArray part(argument.type);
    std::ranges::copy(whole.bytes().subspan(begin, bytes), part.mutable_bytes().begin());
    state_.insert_or_assign(argument.name, DeviceArray::put(session_.mesh(), part));
  }
}

int64_t StepModel::padded_length(int64_t tokens) const {
  int64_t padded = kShortestPrefill;
  while (padded < tokens) padded *= 2;
  return std::min(padded, size_.length);
}

const Program& StepModel::prefill_program(int64_t padded) {
  std::shared_ptr<const Program>& program = prefill_[padded];
  if (!program) {
    program = session_.compile(trace_prefill(session_.config().task, size_, padded), fmt::format("prefill_{}", padded));
  }
  return *program;
}

void StepModel::prepare(int64_t tokens) { prefill_program(padded_length(tokens)); }

void StepModel::prefill(int64_t row, std::span<const int32_t> ids) {
  const auto tokens = static_cast<int64_t>(ids.size());
  if (tokens < 1 || tokens > size_.length) {
    fail<ConfigError>("prompt: {} tokens, the cache holds {}; {}", tokens, size_.length,
                      tokens < 1 ? "give some text" : "shorten it or raise --seqlen");
  }
  for (const int32_t id : ids) {
    if (id < 0 || id >= vocab_size_) {
      fail<ConfigError>(
          "prompt: token {} is not in the model's vocabulary of {}; use the tokenizer it was trained with", id,
          vocab_size_);
    }
  }
  const int64_t padded = padded_length(tokens);
  std::vector<int32_t> filled(ids.begin(), ids.end());
  filled.resize(static_cast<size_t>(padded));
  const auto put = [&](const HostArray& array) { return DeviceArray::put(session_.mesh(), array); };
  DeviceTree inputs;
  inputs.emplace("ids", put(HostArray::of(std::span<const int32_t>(filled), {1, padded})));
  inputs.emplace("num_ids", put(HostArray::scalar(static_cast<int32_t>(tokens))));
  inputs.emplace("row", put(HostArray::scalar(static_cast<int32_t>(row))));
  prefill_program(padded).step(state_, inputs);
}

HostArray StepModel::step(std::span<const int32_t> ids, std::span<const int32_t> positions) {
  const auto put = [&](std::span<const int32_t> values) {
    return DeviceArray::put(session_.mesh(), HostArray::of(values, {size_.rows}));
  };
  DeviceTree inputs;
  inputs.emplace("ids", put(ids));
  inputs.emplace("positions", put(positions));
  return step_->step(state_, inputs).at("logits").to_host();
}

}  // namespace pax
