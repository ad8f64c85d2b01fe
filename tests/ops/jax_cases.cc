#include "tests/ops/jax_cases.h"

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "pax/array/safetensors.h"
#include "pax/autodiff/grad.h"
#include "pax/base/error.h"
#include "pax/base/files.h"
#include "pax/ops/elementwise.h"
#include "tests/ops/jax_ops.h"

namespace pax {
namespace {

using nlohmann::json;

std::filesystem::path golden(const char* file) {
  return std::filesystem::path(PAX_SOURCE_DIR) / "tests" / "ops" / "recorded" / file;
}

const SafetensorsReader& arrays() {
  static const SafetensorsReader reader(golden("jax_ops.safetensors"));
  return reader;
}

const std::map<std::string, std::vector<json>>& cases_by_op() {
  static const auto all = [] {
    std::map<std::string, std::vector<json>> by_op;
    for (const json& entry : json::parse(read_file(golden("jax_ops.json")))) {
      by_op[entry.at("op").get<std::string>()].push_back(entry);
    }
    return by_op;
  }();
  return all;
}

void add_case(const json& entry, Graph& graph, JaxCases& cases) {
  const auto argument = [&](const std::string& name) {
    cases.inputs.push_back(arrays().read(name));
    return graph.argument(name, cases.inputs.back().type());
  };
  const auto expect = [&](const json& names, const std::vector<Tensor>& results) {
    if (names.size() != results.size()) fail<RuntimeError>("{}: {} results", names.dump(), results.size());
    for (size_t i = 0; i < results.size(); ++i) {
      const std::string name = names[i].get<std::string>();
      HostArray value = arrays().read(name);
      if (results[i].type() != value.type()) {
        fail<RuntimeError>("{} is {} but JAX's is {}", name, to_string(results[i].type()), to_string(value.type()));
      }
      graph.output(name, results[i]);
      cases.expected.push_back({name + " " + entry.at("attrs").dump(), std::move(value), entry.at("tolerance")});
    }
  };
  std::vector<Tensor> x;
  for (const json& name : entry.at("inputs")) x.push_back(argument(name));
  const std::vector<Tensor> y = build_case(entry.at("op").get<std::string>(), entry.at("attrs"), x);
  expect(entry.at("outputs"), y);
  if (!entry.contains("wrt")) return;
  std::vector<Tensor> cotangents;
  std::vector<Tensor> wrt;
  for (const json& name : entry.at("cotangents")) cotangents.push_back(argument(name));
  for (const json& i : entry.at("wrt")) wrt.push_back(x[i.get<size_t>()]);
  std::vector<Tensor> grads = pullback(y, cotangents, wrt);
  for (size_t i = 0; i < grads.size(); ++i) {
    if (!grads[i]) grads[i] = wrt[i] * 0.0;
  }
  expect(entry.at("grads"), grads);
}

}  // namespace

std::vector<std::string> jax_case_ops() {
  std::vector<std::string> names;
  for (const auto& [name, cases] : cases_by_op()) names.push_back(name);
  return names;
}

void add_jax_cases(const std::string& op, Graph& graph, JaxCases& cases) {
  const Graph::PathGuard path(graph, op);
  for (const json& entry : cases_by_op().at(op)) add_case(entry, graph, cases);
}

}  // namespace pax
