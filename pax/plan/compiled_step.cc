#include "pax/plan/compiled_step.h"

#include <chrono>
#include <nlohmann/json.hpp>

#include "pax/base/files.h"
#include "pax/base/hash.h"
#include "pax/base/log.h"
#include "pax/runtime/compile_cache.h"

namespace pax {
namespace {

namespace fs = std::filesystem;

CompiledStep compile_now(const Topology& topology, std::string_view stablehlo, const CompileOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  CompiledStep step;
  try {
    const Executable executable = topology.compile(stablehlo, options);
    step.memory = executable.memory_stats();
    step.program = executable.optimized_program();
  } catch (const PluginError& error) {
    if (error.code() != PluginError::Code::kResourceExhausted) throw;
    step.refusal = error.what();
  }
  step.compile_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return step;
}

/// A line of JSON, then the program's bytes; the line has a digest of them.
std::string to_file(const CompiledStep& step) {
  const MemoryStats& memory = step.memory;
  const nlohmann::json head{{"digest", Digest().update(step.program.bytes).hex()},
                            {"format", step.program.format},
                            {"refusal", step.refusal},
                            {"compile_s", step.compile_s},
                            {"code", memory.code},
                            {"arguments", memory.arguments},
                            {"outputs", memory.outputs},
                            {"aliased", memory.aliased},
                            {"temporaries", memory.temporaries},
                            {"peak", memory.peak}};
  return head.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n" + step.program.bytes;
}

std::optional<CompiledStep> from_file(const std::string& contents) {
  const size_t end = contents.find('\n');
  const auto head = nlohmann::json::parse(contents.substr(0, end), nullptr, false);
  if (end == std::string::npos || !head.is_object()) return std::nullopt;
  CompiledStep step;
  step.program.bytes = contents.substr(end + 1);
  if (head.value("digest", "") != Digest().update(step.program.bytes).hex()) return std::nullopt;
  step.program.format = head.value("format", "");
  step.refusal = head.value("refusal", "");
  step.compile_s = head.value("compile_s", 0.0);
  step.memory = {.code = head.value("code", int64_t{0}),
                 .arguments = head.value("arguments", int64_t{0}),
                 .outputs = head.value("outputs", int64_t{0}),
                 .aliased = head.value("aliased", int64_t{0}),
                 .temporaries = head.value("temporaries", int64_t{0}),
                 .peak = head.value("peak", int64_t{0})};
  return step;
}

}  // namespace

CompiledStep PlanCache::compile(const Topology& topology, std::string_view machine, std::string_view stablehlo,
                                const CompileOptions& options) const {
  if (directory_.empty()) return compile_now(topology, stablehlo, options);
  const std::string key =
      Digest().update(stablehlo).update(serialize(options)).update(machine).update(topology.platform_version()).hex();
  const fs::path path = directory_ / key;
  try {
    if (fs::exists(path)) {
      if (auto step = from_file(read_file(path))) return *std::move(step);
    }
  } catch (const std::exception& error) {
    log_warning("{}: cannot be read, compiling again: {}", path.string(), error.what());
  }
  CompiledStep step = compile_now(topology, stablehlo, options);
  try {
    fs::create_directories(directory_);
    write_file_atomically(path, to_file(step));
  } catch (const std::exception& error) {
    log_warning("the plan is not kept: {}", error.what());
  }
  return step;
}

fs::path default_plan_cache() {
  const fs::path executables = default_cache_directory();
  return executables.empty() ? fs::path() : executables.parent_path() / "plans";
}

}  // namespace pax
