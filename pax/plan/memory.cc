#include "pax/plan/memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace pax {
namespace {

constexpr size_t kLargest = 10;

int64_t parts(const std::vector<std::string>& axes, const Mesh& mesh) {
  int64_t count = 1;
  for (size_t i = 0; i < mesh.axes.size(); ++i) {
    if (std::ranges::find(axes, mesh.axes[i]) != axes.end()) count *= mesh.sizes[i];
  }
  return count;
}

/// "33.40G", "512.0M", "128.5K" or "64B" in bytes.
std::optional<int64_t> parse_size(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  const char unit = end == text.data() + text.size() ? 'B' : *end;
  const double scale = unit == 'T' ? 0x1p40 : unit == 'G' ? 0x1p30 : unit == 'M' ? 0x1p20 : unit == 'K' ? 0x1p10 : 1.0;
  return static_cast<int64_t>(number * scale);
}

/// The size that follows `label` in `text`.
std::optional<int64_t> size_after(std::string_view text, std::string_view label) {
  const size_t at = text.find(label);
  return at == std::string_view::npos ? std::nullopt : parse_size(text.substr(at + label.size()));
}

/// What follows `label`, up to the end of its line, or up to `end`.
std::string_view text_after(std::string_view text, std::string_view label, char end = '\n') {
  const size_t at = text.find(label);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = text.substr(at + label.size());
  return rest.substr(0, std::min(rest.find(end), rest.find('\n')));
}

}  // namespace

int64_t bytes_on_device(const TensorType& type, const Sharding& sharding, const Mesh& mesh) {
  const Sharding fitted = fit(sharding, type.shape, mesh);
  int64_t elements = type.shape.num_elements();
  for (const auto& axes : fitted.dims) elements /= parts(axes, mesh);
  return elements * static_cast<int64_t>(byte_size(type.dtype));
}

MemoryPlan plan_memory(const TracedProgram& step, const Mesh& mesh, int64_t capacity) {
  MemoryPlan memory{.capacity = capacity};
  for (const StateEntry& entry : step.state) {
    const int64_t bytes = bytes_on_device(entry.type, entry.sharding, mesh);
    (entry.name.starts_with("opt_states") ? memory.optimizer_state : memory.weights) += bytes;
  }
  for (const Argument& argument : step.graph->arguments()) {
    if (!argument.name.starts_with("batch/")) continue;
    memory.batch +=
        bytes_on_device(step.graph->value(argument.value).type, argument.sharding.value_or(Sharding{}), mesh);
  }
  return memory;
}

void add_program(MemoryPlan& memory, const MemoryStats& stats) {
  memory.activations = stats.temporaries;
  memory.code = stats.code;
  const int64_t all = stats.arguments + stats.outputs - stats.aliased + stats.temporaries + stats.code;
  memory.peak = stats.peak > 0 ? stats.peak : all;
}

void add_refusal(MemoryPlan& memory, std::string_view message) {
  // "… Used 33.40G of 30.75G hbm …"
  const std::string_view used = message.substr(std::min(message.find("Used "), message.size()));
  if (const auto needed = size_after(used, "Used ")) memory.peak = *needed;
  if (const auto capacity = size_after(used, " of ")) memory.capacity = *capacity;
  memory.activations = std::max<int64_t>(0, memory.peak - memory.weights - memory.optimizer_state - memory.batch);
  size_t at = message.find("Size: ");
  while (at != std::string_view::npos && memory.largest.size() < kLargest) {
    const size_t next = message.find("Size: ", at + 1);
    const std::string_view block = message.substr(at, next - at);
    Consumer consumer{.bytes = size_after(block, "Size: ").value_or(0)};
    const std::string_view layer = text_after(block, "op_name=\"", '"');
    const std::string_view shape = text_after(block, "Shape: ", '{');
    consumer.what = fmt::format("{} {}", layer.empty() ? "(compiler)" : layer, shape);
    memory.largest.push_back(std::move(consumer));
    at = next;
  }
}

}  // namespace pax
