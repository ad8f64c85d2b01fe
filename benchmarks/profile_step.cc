// Where a training step's time goes: every op that the compiler does not fuse into its neighbours is compiled as a
// program of its own and timed, times how often it runs. (The CPU plugins have no profiler to ask.) What is left is the
// fused elementwise work and copies. A table; with --json one JSON line. Usage: profile_step EXPERIMENT [--json]
// [NAME=constant…] [path=value…]

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>

#include "pax/experiments/load.h"
#include "pax/experiments/registry.h"
#include "pax/ir/transform.h"
#include "pax/trainer/inputs.h"
#include "pax/trainer/session.h"

namespace pax {
namespace {

/// Smaller ops than this many bytes of operands and results are left to the rest.
constexpr int64_t kLeastBytes = 1 << 18;
constexpr int kRepeats = 5;

double seconds(const std::function<void()>& run) {
  const auto start = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// The median of several runs after a first one.
double median_seconds(const std::function<void()>& run) {
  run();
  std::vector<double> times;
  for (int i = 0; i < kRepeats; ++i) times.push_back(seconds(run));
  std::ranges::sort(times);
  return times[times.size() / 2];
}

int64_t bytes_of(const TensorType& type) {
  return type.shape.num_elements() * static_cast<int64_t>(byte_size(type.dtype));
}

struct Row {
  std::string layer, op;
  int64_t count = 0;  ///< a step
  double seconds = 0;
};

class Profile {
 public:
  Profile(Session& session, const Graph& graph) : session_(session), graph_(graph), live_(live_values(graph)) {
    walk(0, 1);
  }
  const std::map<std::string, Row>& rows() const { return rows_; }

 private:
  void walk(BlockId at, int64_t times) {
    for (const NodeId id : graph_.block(at).nodes) {
      const Node& node = graph_.node(id);
      if (!std::ranges::any_of(node.results, [&](ValueId v) { return live_[static_cast<size_t>(v)]; })) continue;
      if (!node.blocks.empty()) {
        const auto* length = node.attrs.find<int64_t>("length");
        for (const BlockId inner : node.blocks) walk(inner, times * (length == nullptr ? 1 : *length));
      } else if (node.op->trait == OpTrait::kNone && is_large(node)) {
        add(id, times);
      }
    }
  }

  bool is_large(const Node& node) const {
    int64_t bytes = 0;
    for (const ValueId value : node.operands) bytes += bytes_of(graph_.value(value).type);
    for (const ValueId value : node.results) bytes += bytes_of(graph_.value(value).type);
    return bytes >= kLeastBytes && node.op->name != "checkpoint_name" && node.op->name != "each_iteration" &&
           node.op->name != "reshape" && node.op->name != "stop_gradient";
  }

  void add(NodeId id, int64_t times) {
    const Node& node = graph_.node(id);
    std::string what(node.op->name);
    for (const ValueId value : node.operands) what += " " + to_string(graph_.value(value).type);
    const std::string& path = graph_.path_name(node.path);
    Row& row = rows_[path + " " + what];
    row.layer = path;
    row.op = what;
    row.count += times;
    row.seconds += static_cast<double>(times) * time_of(id);
  }

  /// Seconds of one op, as a program of its own on zeros.
  double time_of(NodeId id) {
    TracedProgram program;
    Graph& alone = *program.graph;
    ValueMap map;
    DeviceTree inputs;
    for (const ValueId operand : graph_.node(id).operands) {
      if (map.contains(operand)) continue;
      const TensorType& type = graph_.value(operand).type;
      const std::string name = "x" + std::to_string(map.size());
      map[operand] = alone.argument(name, type).id();
      inputs.emplace(name, DeviceArray::put(session_.mesh(), HostArray(type)));
    }
    clone_node(graph_, id, alone, map);
    for (const ValueId result : graph_.node(id).results) {
      alone.output("y" + std::to_string(alone.outputs().size()), alone.tensor(map.at(result)));
    }
    const auto compiled = session_.compile(program, "op");
    const auto [at, is_new] = times_.try_emplace(compiled->text().stablehlo);
    if (is_new) {
      at->second = median_seconds([&] {
        for (const auto& [name, array] : compiled->run(inputs)) array.wait();
      });
    }
    return at->second;
  }

  Session& session_;
  const Graph& graph_;
  std::vector<bool> live_;
  std::map<std::string, Row> rows_;
  std::map<std::string, double> times_;  ///< by program
};

int measure(const ExperimentRequest& request, bool json) {
  const LoadedExperiment loaded = load_experiment(request, make_registry());
  Session session(loaded.config);
  const auto input = build_train_input(loaded.config);
  const TracedProgram traced = trace_train_step(loaded.config.task, input->spec());
  const auto step = session.compile(traced, "train_step");
  DeviceTree state = session.compile(trace_init(loaded.config.task), "init")->run({});
  const DeviceTree batch = session.batch_to_device(*input->next());
  const double whole = median_seconds([&] { to_host(step->step(state, batch)); });

  const Profile profile(session, *traced.graph);
  std::vector<Row> rows;
  double known = 0;
  for (const auto& [key, row] : profile.rows()) {
    rows.push_back(row);
    known += row.seconds;
  }
  std::ranges::sort(rows, [](const Row& a, const Row& b) { return a.seconds > b.seconds; });
  fmt::print("{:>9} {:>6} {:>6}  {}\n", "ms", "share", "times", "layer: op");
  nlohmann::json table = nlohmann::json::array();
  for (const Row& row : rows) {
    if (row.seconds < 0.002 * whole) continue;
    fmt::print("{:9.2f} {:5.1f}% {:6}  {}: {}\n", row.seconds * 1e3, row.seconds / whole * 100, row.count, row.layer,
               row.op);
    table.push_back({{"layer", row.layer}, {"op", row.op}, {"times", row.count}, {"ms", row.seconds * 1e3}});
  }
  fmt::print("{:9.2f} {:5.1f}%         all else: fused elementwise work, copies\n", (whole - known) * 1e3,
             (whole - known) / whole * 100);
  fmt::print("{:9.2f} 100.0%         the step\n", whole * 1e3);
  if (json) {
    fmt::print("{}\n", nlohmann::json{{"benchmark", "profile_step"},
                                      {"exp", loaded.name},
                                      {"step_ms", whole * 1e3},
                                      {"known_ms", known * 1e3},
                                      {"rows", table}}
                           .dump());
  }
  return 0;
}

}  // namespace
}  // namespace pax

int main(int argc, char** argv) {
  pax::ExperimentRequest request{.name = argc > 1 ? argv[1] : "lm.text.ByteLmSmall"};
  bool json = false;
  for (int i = 2; i < argc; ++i) {
    if (std::strcmp(argv[i], "--json") == 0) {
      json = true;
    } else {
      const bool constant = std::isupper(static_cast<unsigned char>(argv[i][0])) != 0;
      (constant ? request.constants : request.overrides).emplace_back(argv[i]);
    }
  }
  return pax::measure(request, json);
}
