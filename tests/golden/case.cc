#include "tests/golden/case.h"

#include "pax/array/safetensors.h"
#include "pax/base/error.h"
#include "pax/base/files.h"
#include "pax/config/yaml.h"
#include "pax/ir/stablehlo.h"
#include "pax/ir/transform.h"

namespace pax::golden {
namespace {

std::filesystem::path tensors_of(std::filesystem::path json) { return json.replace_extension(".safetensors"); }

}  // namespace

const config::Value& RecordedCase::at(std::string_view key) const {
  const config::Value* value = json.find(key);
  if (value == nullptr) fail<RuntimeError>("{}: \"{}\" is missing", path.string(), key);
  return *value;
}

const std::string& RecordedCase::text(std::string_view key) const { return at(key).text; }

bool RecordedCase::flag(std::string_view key) const {
  const config::Value* value = json.find(key);
  return value != nullptr && value->boolean;
}

const HostArray* RecordedCase::tensor(std::string_view name) const {
  const auto at = tensors.find(name);
  return at == tensors.end() ? nullptr : &at->second;
}

bool is_recorded_case(const std::filesystem::path& json) {
  return json.extension() == ".json" && json.stem().extension().empty() && std::filesystem::exists(tensors_of(json));
}

RecordedCase read_recorded_case(const std::filesystem::path& json) {
  return {json, config::read_yaml(read_file(json), json.filename().string()), read_safetensors(tensors_of(json))};
}

GraphProgram::GraphProgram(Graph& graph, const Context& context)
    : context_(context),
      lowered_(lower(graph, Target{.platform = Target::Platform::kCpu})),
      executable_(context.client->compile(to_stablehlo(*lowered_))) {}

HostTree GraphProgram::run(const HostTree& arguments) const {
  BufferList buffers;
  for (const Argument& argument : lowered_->arguments()) {
    const TensorType& type = lowered_->value(argument.value).type;
    const auto at = arguments.find(argument.name);
    if (at == arguments.end()) fail<RuntimeError>("{} {} is not recorded", argument.name, to_string(type));
    if (at->second.type() != type) {
      fail<RuntimeError>("{} is {} but recorded as {}", argument.name, to_string(type), to_string(at->second.type()));
    }
    buffers.push_back(context_.client->to_device(at->second));
  }
  const BufferList results = executable_.execute(buffers);
  HostTree outputs;
  for (size_t i = 0; i < results.size(); ++i) outputs[lowered_->outputs()[i].name] = results[i].to_host();
  return outputs;
}

HostTree run_graph(Graph& graph, const HostTree& arguments, const Context& context) {
  return GraphProgram(graph, context).run(arguments);
}

}  // namespace pax::golden
