#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "pax/array/tree.h"
#include "pax/config/registry.h"
#include "pax/config/value.h"
#include "pax/ir/graph.h"
#include "pax/pjrt/client.h"

namespace pax::golden {

/// One comparison: what differs, or nothing.
struct CaseResult {
  std::string name;
  std::string message;
  bool passed() const { return message.empty(); }
};

/// What all cases share. Used from several threads.
struct Context {
  std::shared_ptr<const Client> client;
  const config::Registry& registry;
};

/// A pair of files `<case>.json` and `<case>.safetensors`: what was computed, and with which numbers.
struct RecordedCase {
  std::filesystem::path path;  ///< of the JSON
  config::Value json;
  HostTree tensors;

  /// Throws RuntimeError naming file and key when there is no such text.
  const std::string& text(std::string_view key) const;
  const config::Value* find(std::string_view key) const { return json.find(key); }
  /// Throws RuntimeError naming file and key.
  const config::Value& at(std::string_view key) const;
  bool flag(std::string_view key) const;
  /// The tensor, or nullptr.
  const HostArray* tensor(std::string_view name) const;
};

/// Whether both files are there.
bool is_recorded_case(const std::filesystem::path& json);
RecordedCase read_recorded_case(const std::filesystem::path& json);

/// Runs a kind of recorded cases: what differs, or "". It may throw: the error is the message.
using RecordedRunner = std::string (*)(const RecordedCase& recorded, const Context& context);

/// `graph` lowered and compiled, to be run several times.
class GraphProgram {
 public:
  GraphProgram(Graph& graph, const Context& context);

  /// Outputs by name from arguments by name. Throws RuntimeError when an argument is missing or of another type.
  HostTree run(const HostTree& arguments) const;

 private:
  const Context& context_;
  std::unique_ptr<Graph> lowered_;
  LoadedExecutable executable_;
};

/// Lowers, compiles and runs `graph` with arguments by name; gives its outputs by name. Throws RuntimeError when an
/// argument is missing or of another type.
HostTree run_graph(Graph& graph, const HostTree& arguments, const Context& context);

}  // namespace pax::golden
