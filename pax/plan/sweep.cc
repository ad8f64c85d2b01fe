#include "pax/plan/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "pax/base/error.h"
#include "pax/base/text.h"
#include "pax/trainer/mesh.h"

namespace pax {
namespace {

/// From least to most kept.
constexpr std::array<std::string_view, 7> kPolicies = {"SAVE_NOTHING",
                                                       "SAVE_OUT_PROJ",
                                                       "SAVE_CONTEXT_AND_OUT_PROJ",
                                                       "SAVE_QKV_OUT_PROJ",
                                                       "SAVE_DOT_FOR_MLPERF_200B",
                                                       "SAVE_DOT_EXCEPT_LOGITS_FFN1",
                                                       "SAVE_DOT_WITH_NO_BATCH_DIM"};

/// Beyond this tensor parallelism is slower than anything else.
constexpr int64_t kMaxTensorParallelism = 16;

std::vector<std::string> meshes(const ExperimentConfig& config, const Machine& machine) {
  const MeshShape shape = mesh_shape(config);
  const auto data = std::ranges::find(shape.axes, "data"), mdl = std::ranges::find(shape.axes, "mdl");
  if (data == shape.axes.end() || mdl == shape.axes.end()) {
    fail<ConfigError>("--sweep mesh: the experiment's mesh has axes ({}); it needs data and mdl",
                      join(shape.axes, ","));
  }
  const auto data_at = static_cast<size_t>(data - shape.axes.begin());
  const auto mdl_at = static_cast<size_t>(mdl - shape.axes.begin());
  int64_t shared = machine.num_devices();
  for (size_t i = 0; i < shape.axes.size(); ++i) {
    shared /= shape.dcn[i] * (i == data_at || i == mdl_at ? 1 : shape.ici[i]);
  }
  std::vector<std::string> out;
  for (int64_t tensor = 1; tensor <= std::min(shared, kMaxTensorParallelism); tensor *= 2) {
    if (shared % tensor != 0) continue;
    std::vector<int64_t> sizes = shape.ici;
    sizes[data_at] = shared / tensor;
    sizes[mdl_at] = tensor;
    out.push_back(fmt::format("ICI_MESH_SHAPE=[{}]", join(sizes, ",")));
  }
  return out;
}

std::vector<std::string> policies() {
  std::vector<std::string> out;
  for (const std::string_view policy : kPolicies) out.push_back(fmt::format("CHECKPOINT_POLICY={}", policy));
  return out;
}

std::string label(const SweepRow& row) { return join(row.alternative, " "); }

}  // namespace

std::vector<SweepOver> parse_sweep(std::string_view text) {
  static const std::vector<std::string> kNames = {"remat", "mesh"};
  std::vector<SweepOver> over;
  for (const std::string& word : split(text, ',')) {
    const auto at = std::ranges::find(kNames, word);
    if (at == kNames.end()) {
      fail<ConfigError>("--sweep {}: \"{}\" is not known.{} There are: {}", text, word, did_you_mean(word, kNames),
                        join(kNames, ", "));
    }
    over.push_back(static_cast<SweepOver>(at - kNames.begin()));
  }
  return over;
}

std::vector<Alternative> alternatives(const ExperimentConfig& config, const Machine& machine,
                                      const std::vector<SweepOver>& over) {
  std::vector<Alternative> all{{}};
  for (const SweepOver what : over) {
    std::vector<Alternative> next;
    for (const std::string& constant : what == SweepOver::kRemat ? policies() : meshes(config, machine)) {
      for (Alternative alternative : all) {
        alternative.push_back(constant);
        next.push_back(std::move(alternative));
      }
    }
    all = std::move(next);
  }
  return all;
}

SweepRow sweep_row(const Alternative& alternative, std::string_view plan_json) {
  SweepRow row{.alternative = alternative};
  const auto json = nlohmann::json::parse(plan_json, nullptr, false);
  if (!json.is_object() || !json.contains("fits")) {
    row.error = "no plan";
    return row;
  }
  const auto number = [&](const char* name) {
    return json.contains(name) && json[name].is_number() ? json[name].get<double>() : 0.0;
  };
  row.fits = json.value("fits", false);
  row.peak_bytes = static_cast<int64_t>(number("peak_bytes_per_device"));
  row.capacity_bytes = json.contains("memory") ? json["memory"].value("capacity", int64_t{0}) : 0;
  row.step_s = number("predicted_step_s");
  row.mfu = number("predicted_mfu");
  return row;
}

void rank(std::vector<SweepRow>& rows) {
  const auto key = [](const SweepRow& row) {
    const int group = !row.error.empty() ? 2 : row.fits ? 0 : 1;
    return std::tuple(group, group == 0 ? row.step_s : static_cast<double>(row.peak_bytes));
  };
  std::ranges::stable_sort(rows, {}, key);
}

std::string sweep_text(const std::vector<SweepRow>& rows) {
  std::string out = fmt::format("{:>4}  {:>9}  {:>7}  {:>10}  {}\n", "rank", "step", "MFU", "peak", "constants");
  for (size_t i = 0; i < rows.size(); ++i) {
    const SweepRow& row = rows[i];
    const std::string peak = row.peak_bytes > 0 ? human_bytes(static_cast<uint64_t>(row.peak_bytes)) : "";
    std::string step = row.step_s > 0 ? fmt::format("{:.4g} s", row.step_s) : "";
    if (!row.error.empty()) step = "failed";
    if (row.error.empty() && !row.fits) step = "no room";
    out += fmt::format("{:>4}  {:>9}  {:>7}  {:>10}  {}{}\n", i + 1, step,
                       row.mfu > 0 ? fmt::format("{:.1f} %", 100 * row.mfu) : "", peak, label(row),
                       row.error.empty() ? "" : ": " + row.error);
  }
  return out;
}

std::string sweep_json(const std::vector<SweepRow>& rows) {
  nlohmann::json out = nlohmann::json::array();
  for (const SweepRow& row : rows) {
    out.push_back({{"constants", row.alternative},
                   {"error", row.error},
                   {"fits", row.fits},
                   {"peak_bytes_per_device", row.peak_bytes},
                   {"predicted_step_s", row.step_s},
                   {"predicted_mfu", row.mfu}});
  }
  return out.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace pax
