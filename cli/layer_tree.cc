#include "cli/layer_tree.h"

#include <fmt/format.h>

#include "pax/base/text.h"
#include "pax/task/flops.h"

namespace pax::cli {
namespace {

LayerRow& row_at(LayerRow& root, const std::string& path) {
  LayerRow* at = &root;
  for (const std::string& part : split(path, '/')) {
    if (part.empty()) continue;
    LayerRow* next = nullptr;
    for (LayerRow& row : at->below) {
      if (row.name == part) next = &row;
    }
    if (next == nullptr) {
      at->below.push_back({.name = part});
      next = &at->below.back();
    }
    at = next;
  }
  return *at;
}

double devices_of(const ParamSpec& spec, const Mesh& mesh) {
  double parts = 1;
  for (const auto& dim : fit({spec.split}, spec.shape, mesh).dims) {
    for (const std::string& axis : dim) {
      for (size_t i = 0; i < mesh.axes.size(); ++i) {
        if (mesh.axes[i] == axis) parts *= static_cast<double>(mesh.sizes[i]);
      }
    }
  }
  return parts;
}

void add_variable(LayerRow& root, const Param& param, const Mesh& mesh) {
  const size_t slash = param.path.rfind('/');
  LayerRow& row = row_at(root, slash == std::string::npos ? "" : param.path.substr(0, slash));
  const TensorType type = param.spec.stored_type();
  row.variables +=
      fmt::format("{}{} {}", row.variables.empty() ? "" : ", ", param.path.substr(slash + 1), to_string(type));
  if (param.spec.collection == Collection::kParams) row.num_params += type.shape.num_elements();
  const auto elements = static_cast<double>(type.shape.num_elements());
  row.bytes_per_device += elements * static_cast<double>(byte_size(type.dtype)) / devices_of(param.spec, mesh);
}

/// Adds what is below to each row.
void add_up(LayerRow& row) {
  for (LayerRow& below : row.below) {
    add_up(below);
    row.num_params += below.num_params;
    row.bytes_per_device += below.bytes_per_device;
    row.flops += below.flops;
  }
}

void print(const LayerRow& row, int depth, std::string& out) {
  const std::string name = std::string(static_cast<size_t>(2 * depth), ' ') + row.name;
  out += fmt::format("{:44} {:>18} {:>12} {:>10.3e}  {}\n", name, with_commas(row.num_params),
                     human_bytes(static_cast<uint64_t>(row.bytes_per_device)), row.flops, row.variables);
  for (const LayerRow& below : row.below) print(below, depth + 1, out);
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '<') {
      out += "&lt;";
    } else if (c == '&') {
      out += "&amp;";
    } else {
      out += c;
    }
  }
  return out;
}

constexpr const char* kStyle = R"(<style>
body{font:15px/1.45 system-ui,sans-serif;margin:2em auto;max-width:72em;padding:0 1em;color:#1c2430;background:#fff}
h1{font-size:1.3em} details{margin-left:1.1em;border-left:1px solid #d5dbe3;padding-left:.5em}
summary,.leaf{display:grid;grid-template-columns:1fr 9em 6em 6em 8em;gap:.6em;align-items:center;cursor:pointer;padding:1px 4px}
.leaf{margin-left:1.6em;border-left:1px solid #d5dbe3;cursor:default}
summary:hover,.leaf:hover{background:#eef3fa} .n{text-align:right;font-variant-numeric:tabular-nums}
.bar{background:#e6ebf2;height:.8em;border-radius:2px} .bar i{display:block;height:100%;background:#3b74c4;border-radius:2px}
small{color:#667;font-family:ui-monospace,monospace;font-size:.8em} .head{font-weight:600;color:#556;cursor:default}
@media (prefers-color-scheme:dark){body{color:#dde;background:#14181f}details,.leaf{border-color:#345}
summary:hover,.leaf:hover{background:#1f2a3a}.bar{background:#2a3342}small,.head{color:#99a}}
</style>)";

void add_html(const LayerRow& row, double whole, int depth, std::string& out) {
  const double share = whole > 0 ? 100 * static_cast<double>(row.num_params) / whole : 0;
  const std::string cells = fmt::format(
      "<span>{}{}</span><span class=n>{}</span><span class=n>{}</span><span class=n>{:.2e}</span>"
      "<span class=bar title='{:.1f} % of the parameters'><i style='width:{:.1f}%'></i></span>",
      escaped(row.name), row.variables.empty() ? "" : " <small>" + escaped(row.variables) + "</small>",
      with_commas(row.num_params), human_bytes(static_cast<uint64_t>(row.bytes_per_device)), row.flops, share, share);
  if (row.below.empty()) {
    out += fmt::format("<div class=leaf>{}</div>\n", cells);
    return;
  }
  out += fmt::format("<details{}><summary>{}</summary>\n", depth < 4 ? " open" : "", cells);
  for (const LayerRow& below : row.below) add_html(below, whole, depth + 1, out);
  out += "</details>\n";
}

}  // namespace

LayerRow layer_tree(const TracedProgram& eval, const Mesh& mesh) {
  LayerRow root{.name = "model"};
  for (const Param& param : eval.params) add_variable(root, param, mesh);
  for (const auto& [path, flops] : flops_by_layer(*eval.graph)) row_at(root, path).flops += 3 * flops;
  add_up(root);
  return root;
}

std::string layer_text(const LayerRow& root) {
  std::string out =
      fmt::format("{:44} {:>18} {:>12} {:>10}  {}\n", "layer", "parameters", "per device", "FLOPs", "variables");
  print(root, 0, out);
  return out;
}

std::string layer_page(const LayerRow& root, const std::string& title, const std::string& summary) {
  std::string out = fmt::format(
      "<!doctype html><html lang=en><head><meta charset=utf-8><meta name=viewport content='width=device-width'>"
      "<title>{0}</title>{1}</head><body><h1>{0}</h1><p>{2}</p>\n"
      "<div class='leaf head'><span>layer</span><span class=n>parameters</span><span class=n>per device</span>"
      "<span class=n>FLOPs a step</span><span>share</span></div>\n",
      escaped(title), kStyle, escaped(summary));
  add_html(root, static_cast<double>(root.num_params), 0, out);
  return out + "</body></html>\n";
}

}  // namespace pax::cli
