#include <fmt/format.h>

#include <algorithm>

#include "pax/base/text.h"
#include "pax/plan/report.h"

namespace pax {
namespace {

constexpr std::string_view kHead = R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<style>
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em; color: #222 }
table { border-collapse: collapse; width: 100% } td, th { text-align: left; padding: .2em .8em .2em 0 }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums } tr { border-bottom: 1px solid #ddd }
.bar { background: #eee; height: 1.4em; display: flex } .bar div { height: 100% }
.ok { color: #176b2c } .no { color: #a11 } pre { white-space: pre-wrap }
@media (prefers-color-scheme: dark) { body { background: #181818; color: #ddd } tr { border-color: #444 } .bar { background: #333 } }
</style>
)";

std::string escape(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

struct Part {
  std::string_view name;
  int64_t bytes;
  std::string_view color;
};

/// A bar of the device's memory and a table of what is in it.
std::string memory_section(const MemoryPlan& memory) {
  const Part parts[] = {{"weights", memory.weights, "#3b6fb6"},
                        {"optimizer state", memory.optimizer_state, "#7fa7d9"},
                        {"batch", memory.batch, "#bbb"},
                        {"activations, gradients, scratch", memory.activations, "#e08b3c"},
                        {"program", memory.code, "#8a6"}};
  const auto whole = static_cast<double>(std::max({memory.capacity, memory.peak, int64_t{1}}));
  std::string bar = "<div class=bar>", rows;
  for (const Part& part : parts) {
    bar += fmt::format("<div style=\"background:{};width:{:.2f}%\" title=\"{}\"></div>", part.color,
                       100 * static_cast<double>(part.bytes) / whole, part.name);
    rows += fmt::format("<tr><td><span style=\"color:{}\">&#9632;</span> {}<td class=n>{}\n", part.color, part.name,
                        human_bytes(static_cast<uint64_t>(part.bytes)));
  }
  for (const Consumer& consumer : memory.largest) {
    rows += fmt::format("<tr><td>{}<td class=n>{}\n", escape(consumer.what),
                        human_bytes(static_cast<uint64_t>(consumer.bytes)));
  }
  return fmt::format(
      "<h2>Memory of a device</h2>{}</div><table>{}<tr><th>peak<th class=n>{}<tr><th>device has<th class=n>{}"
      "</table>\n",
      bar, rows, human_bytes(static_cast<uint64_t>(memory.peak)),
      memory.capacity > 0 ? human_bytes(static_cast<uint64_t>(memory.capacity)) : "?");
}

std::string collectives_section(const StepCost& cost) {
  std::string out =
      "<h2>Collectives of a step</h2><table><tr><th>kind<th>mesh axes<th class=n>times<th class=n>bytes<th class=n>"
      "seconds<th class=n>exposed\n";
  for (const CollectiveCost& one : cost.collectives) {
    out += fmt::format("<tr><td>{}<td>{}<td class=n>{}<td class=n>{}<td class=n>{:.4f}<td class=n>{:.4f}\n", one.kind,
                       escape(one.axes), one.count, human_bytes(static_cast<uint64_t>(one.bytes)), one.seconds,
                       one.exposed_s);
  }
  return out + "</table>\n";
}

std::string layers_section(const StepCost& cost) {
  std::string out = "<h2>Costliest layers</h2><table>\n";
  for (size_t i = 0; i < std::min<size_t>(20, cost.layers.size()); ++i) {
    const double share = 100 * cost.layers[i].seconds / cost.seconds;
    out += fmt::format("<tr><td class=n>{:.1f} %<td class=n>{:.4f} s<td>{}\n", share, cost.layers[i].seconds,
                       escape(cost.layers[i].name));
  }
  return out + "</table>\n";
}

}  // namespace

std::string plan_html(const Plan& plan) {
  const std::string title = escape(fmt::format("{} on {}", plan.experiment, plan.machine.name));
  std::string out = fmt::format("{}<title>{}</title></head><body><h1>{}</h1>\n", kHead, title, title);
  out += fmt::format("<p class={}><b>{}</b></p>\n", plan.fits() ? "ok" : "no", plan.fits() ? "fits" : "does not fit");
  if (plan.cost.seconds > 0) {
    out += fmt::format("<p>{:.4g} s a step, {} tokens/s, MFU {:.1f} %, predicted by {}.</p>\n", plan.cost.seconds,
                       with_commas(static_cast<int64_t>(plan.tokens_per_s())), 100 * plan.mfu(),
                       escape(prediction_method(plan.machine)));
  }
  out += memory_section(plan.memory);
  if (plan.cost.seconds > 0) out += collectives_section(plan.cost) + layers_section(plan.cost);
  out += fmt::format("<h2>Everything</h2><pre>{}</pre></body></html>\n", escape(plan_text(plan)));
  return out;
}

}  // namespace pax
