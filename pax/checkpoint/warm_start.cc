#include "pax/checkpoint/warm_start.h"

#include <algorithm>

#include "pax/base/error.h"
#include "pax/base/log.h"
#include "pax/base/text.h"
#include "pax/checkpoint/catalog.h"
#include "pax/checkpoint/load_rule.h"
#include "pax/checkpoint/reader.h"

namespace pax {
namespace {

constexpr std::string_view kVars = "mdl_vars/";
constexpr std::string_view kOptStates = "opt_states_";
constexpr std::string_view kEma = "ema/";

/// One CheckpointLoadingRules at work: which array there gives the value of which array here.
class Source {
 public:
  explicit Source(const CheckpointLoadingRules& config)
      : config_(config), reader_(find_checkpoint(*config.checkpoint_path, config.step)) {
    for (const auto& [pattern, source] : config.load_rules) load_.emplace_back(pattern, source);
    for (const std::string& pattern : config.ignore_rules) ignore_.emplace_back(pattern);
    used_.resize(load_.size());
  }

  const CheckpointReader& reader() const { return reader_; }

  /// Adds to `mapping` the arrays with `prefix` that rules match and `start` does not have yet.
  void map_by_rules(const Tree<TensorType>& model, std::string_view prefix, const WarmStart& start,
                    Tree<std::string>& mapping) {
    for (const auto& [path, type] : model) {
      if (!path.starts_with(prefix) || start.from.contains(path)) continue;
      const std::string name = path.substr(prefix.size());
      if (std::ranges::any_of(ignore_, [&](const LoadRule& rule) { return rule.matches(name); })) continue;
      for (size_t i = 0; i < load_.size(); ++i) {
        const std::optional<std::string> source = load_[i].apply(name);
        if (!source) continue;
        used_[i] = true;
        mapping.emplace(path, stored_path(*source, prefix));
        break;
      }
    }
  }

  /// Every array of the optimizer, under its own name.
  static void map_opt_states(const Tree<TensorType>& model, Tree<std::string>& mapping) {
    for (const auto& [path, type] : model) {
      if (path.starts_with(kOptStates)) mapping.emplace(path, path);
    }
  }

  void require_rules_used() const {
    for (size_t i = 0; config_.safe_load && i < load_.size(); ++i) {
      if (!used_[i]) {
        fail<ConfigError>("init_from_checkpoint_rules of {}: load rule {} matches no variable of the model",
                          *config_.checkpoint_path, json_quote(load_[i].pattern()));
      }
    }
  }

 private:
  /// The path in the checkpoint of a rule's source.
  std::string stored_path(std::string source, std::string_view prefix) const {
    std::replace(source.begin(), source.end(), '.', '/');
    if (prefix != kVars || !source.starts_with(kEma)) return std::string(prefix) + source;
    if (!config_.load_ema_states) {
      fail<ConfigError>("init_from_checkpoint_rules of {}: {} asks for the moving average, but load_ema_states is off",
                        *config_.checkpoint_path, json_quote(source));
    }
    for (const auto& [path, type] : reader_.types()) {
      if (path.starts_with(kOptStates) && path.ends_with("/" + source)) return path;
    }
    fail<RuntimeError>("{}: has no moving average of {}", reader_.path().string(), source.substr(kEma.size()));
  }

  const CheckpointLoadingRules& config_;
  CheckpointReader reader_;
  std::vector<LoadRule> load_;
  std::vector<LoadRule> ignore_;
  std::vector<bool> used_;
};

/// Throws one error that names all arrays that are not there or of another shape.
void require_loadable(const CheckpointReader& reader, const Tree<TensorType>& model, const Tree<std::string>& mapping) {
  Tree<TensorType> found;
  Tree<TensorType> expected;
  for (const auto& [path, source] : mapping) {
    const Shape& shape = model.find(path)->second.shape;
    const auto there = reader.types().find(source);
    // The element type may differ: it is converted.
    expected.insert_or_assign(
        source,
        TensorType{there == reader.types().end() ? model.find(path)->second.dtype : there->second.dtype, shape});
    if (there != reader.types().end()) found.insert_or_assign(source, there->second);
  }
  require_same_types(reader.path().string(), found, expected, "change load_rules or ignore_rules");
}

void load(const CheckpointReader& reader, const Tree<TensorType>& model, const Tree<std::string>& mapping,
          WarmStart& start) {
  require_loadable(reader, model, mapping);
  std::vector<std::string> names;
  for (const auto& [path, source] : mapping) names.push_back(source);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  const HostTree values = reader.read(std::span<const std::string>(names));
  for (const auto& [path, source] : mapping) {
    const HostArray& value = values.find(source)->second;
    const DType wanted = model.find(path)->second.dtype;
    start.state.insert_or_assign(path, value.dtype() == wanted ? value : value.converted(wanted));
    start.from.emplace(path, fmt::format("{}: {}", reader.path().string(), source));
  }
}

}  // namespace

void CheckpointLoadingRules::validate(config::Errors& errors) const {
  const auto check = [&](const std::string& path, std::string_view pattern, std::string_view source) {
    try {
      LoadRule(pattern, source);
    } catch (const ConfigError& error) {
      errors.add(path, error.what());
    }
  };
  for (size_t i = 0; i < load_rules.size(); ++i) {
    check(fmt::format("load_rules[{}]", i), load_rules[i][0], load_rules[i][1]);
  }
  for (size_t i = 0; i < ignore_rules.size(); ++i) check(fmt::format("ignore_rules[{}]", i), ignore_rules[i], "");
}

WarmStart warm_start(const Tree<TensorType>& model, std::span<const CheckpointLoadingRules> rules) {
  WarmStart start;
  for (const CheckpointLoadingRules& config : rules) {
    Source source(config);
    Tree<std::string> mapping;
    source.map_by_rules(model, kVars, start, mapping);
    source.require_rules_used();
    if (config.partial_load_opt_states) {
      source.map_by_rules(model, kOptStates, start, mapping);
      start.has_opt_states = true;
    } else if (config.load_opt_states && !start.has_opt_states) {
      Source::map_opt_states(model, mapping);
      start.has_opt_states = true;
    }
    load(source.reader(), model, mapping, start);
    if (config.load_step && !start.step) start.step = source.reader().step();
    log_info("took {} arrays from {}", mapping.size(), source.reader().path().string());
  }
  return start;
}

}  // namespace pax
