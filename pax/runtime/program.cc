#include "pax/runtime/program.h"

#include <numeric>
#include <unordered_map>

#include "pax/base/error.h"
#include "pax/ir/blame.h"
#include "pax/ir/stablehlo.h"

namespace pax {
namespace {

CompileOptions compile_options(const DeviceMesh& mesh) { return {.num_partitions = mesh.num_devices()}; }

[[noreturn]] void fail_argument(const ProgramValue& argument, const DeviceArray* given) {
  if (given == nullptr)
    fail<RuntimeError>("program argument {} {} was not given", argument.name, to_string(argument.type));
  if (given->type() != argument.type) {
    fail<RuntimeError>("program argument {} is {} but {} was given", argument.name, to_string(argument.type),
                       to_string(given->type()));
  }
  fail<RuntimeError>("program argument {} is split as {} but was given split as {}", argument.name,
                     to_shardy(argument.sharding), to_shardy(given->sharding()));
}

/// Equal up to trailing dimensions that are not split.
bool same_sharding(const Sharding& a, const Sharding& b) {
  const size_t dims = std::max(a.dims.size(), b.dims.size());
  static const std::vector<std::string> kWhole;
  for (size_t i = 0; i < dims; ++i) {
    if ((i < a.dims.size() ? a.dims[i] : kWhole) != (i < b.dims.size() ? b.dims[i] : kWhole)) return false;
  }
  return true;
}

/// Compiles; an error of the plugin says of which layer it speaks.
LoadedExecutable compile(const DeviceMesh& mesh, const std::string& stablehlo, CompileCache& cache) {
  try {
    return cache.compile(mesh.client(), stablehlo, compile_options(mesh));
  } catch (const PluginError& error) {
    const std::string layer = blamed_layer(error.what(), stablehlo);
    if (layer.empty()) throw;
    throw PluginError(error.code(), layer + ": " + error.what());
  }
}

const DeviceArray* find(const DeviceTree& tree, const std::string& name) {
  const auto at = tree.find(name);
  return at == tree.end() ? nullptr : &at->second;
}

}  // namespace

ProgramText program_text(const Graph& lowered, const Mesh& mesh, std::string_view name) {
  ProgramText text;
  std::unordered_map<std::string_view, const Sharding*> shardings;
  for (const Argument& argument : lowered.arguments()) {
    const TensorType& type = lowered.value(argument.value).type;
    text.arguments.push_back({argument.name, type, fit(argument.sharding.value_or(Sharding{}), type.shape, mesh)});
    if (argument.sharding) shardings.emplace(argument.name, &*argument.sharding);
  }
  for (const Output& output : lowered.outputs()) {
    Sharding sharding = output.sharding.value_or(Sharding{});
    const auto at = shardings.find(output.name);
    if (!output.sharding && at != shardings.end()) sharding = *at->second;
    const TensorType& type = lowered.value(output.value).type;
    text.results.push_back({output.name, type, fit(std::move(sharding), type.shape, mesh)});
  }
  text.stablehlo = to_stablehlo(lowered, {.module_name = std::string(name), .mesh = mesh});
  return text;
}

Program::Program(std::shared_ptr<const DeviceMesh> mesh, ProgramText text, CompileCache& cache)
    : mesh_(std::move(mesh)), text_(std::move(text)), executable_(compile(*mesh_, text_.stablehlo, cache)) {
  const size_t outputs = executable_.executable().num_outputs();
  if (outputs != text_.results.size()) {
    fail<RuntimeError>("program has {} results but {} names", outputs, text_.results.size());
  }
  std::unordered_map<std::string_view, size_t> results;
  for (const ProgramValue& result : text_.results) results.emplace(result.name, results.size());
  for (size_t i = 0; i < text_.arguments.size(); ++i) {
    if (results.contains(text_.arguments[i].name)) donated_.push_back(static_cast<int64_t>(i));
  }
}

DeviceTree Program::launch(const std::vector<const DeviceArray*>& arguments, const ExecuteOptions& options) const {
  std::vector<BufferList> inputs(static_cast<size_t>(mesh_->num_devices()));
  for (size_t i = 0; i < arguments.size(); ++i) {
    const ProgramValue& wanted = text_.arguments[i];
    const DeviceArray* given = arguments[i];
    if (given == nullptr || given->type() != wanted.type || !same_sharding(given->sharding(), wanted.sharding)) {
      fail_argument(wanted, given);
    }
    for (size_t d = 0; d < inputs.size(); ++d) inputs[d].push_back(given->shards()[d]);
  }
  const std::vector<BufferList> outputs = executable_.execute(inputs, options);
  DeviceTree results;
  for (size_t i = 0; i < text_.results.size(); ++i) {
    const ProgramValue& result = text_.results[i];
    BufferList shards;
    for (const BufferList& on_device : outputs) shards.push_back(on_device[i]);
    results.emplace(result.name, DeviceArray(mesh_, result.type, result.sharding, std::move(shards)));
  }
  return results;
}

DeviceTree Program::step(DeviceTree& state, const DeviceTree& inputs) const {
  std::vector<const DeviceArray*> arguments;
  arguments.reserve(text_.arguments.size());
  for (const ProgramValue& argument : text_.arguments) {
    const DeviceArray* in_state = find(state, argument.name);
    arguments.push_back(in_state != nullptr ? in_state : find(inputs, argument.name));
  }
  DeviceTree results = launch(arguments, {});
  for (const int64_t i : donated_) {
    auto next = results.extract(text_.arguments[static_cast<size_t>(i)].name);
    if (next.empty()) continue;
    state.insert_or_assign(next.key(), std::move(next.mapped()));
  }
  return results;
}

DeviceTree Program::run(const DeviceTree& inputs) const {
  std::vector<const DeviceArray*> arguments;
  for (const ProgramValue& argument : text_.arguments) arguments.push_back(find(inputs, argument.name));
  return launch(arguments, {.keep = donated_});
}

}  // namespace pax
