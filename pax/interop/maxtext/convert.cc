#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "pax/base/error.h"
#include "pax/config/yaml.h"
#include "pax/data/synthetic_input.h"
#include "pax/interop/maxtext/fields.h"
#include "pax/interop/maxtext/maxtext.h"
#include "pax/interop/maxtext/model.h"
#include "pax/layers/transformer_models/lm_sharding.h"
#include "pax/layers/transformer_models/transformer_lm.h"
#include "pax/optim/adam.h"
#include "pax/optim/ramp_schedules.h"
#include "pax/optim/sgd.h"
#include "pax/optim/static_accumulator.h"

namespace pax {
namespace {

using maxtext::Settings;
using maxtext::Treatment;
using Degrees = std::array<int64_t, 3>;  // replica, data, mdl

/// The degrees of one of "ici" and "dcn"; a -1 takes what is left of `devices`.
Degrees degrees(const Settings& s, const std::string& where, int64_t devices, config::Errors& errors) {
  static constexpr const char* kAxes[] = {"data", "fsdp", "tensor"};
  Degrees out{};
  int64_t rest = devices, open = -1;
  for (size_t i = 0; i < out.size(); ++i) {
    const std::string key = fmt::format("{}_{}_parallelism", where, kAxes[i]);
    out[i] = s.integer(key);
    if (out[i] == -1 && open < 0) {
      open = static_cast<int64_t>(i);
    } else if (out[i] < 1 || rest % out[i] != 0) {
      if (out[i] < 1 || devices > 1) {
        errors.add(key, fmt::format("{} does not divide the {} devices", out[i], devices));
      }
      out[i] = std::max<int64_t>(out[i], 1);
    } else {
      rest /= out[i];
    }
  }
  if (open >= 0) out[static_cast<size_t>(open)] = rest;
  return out;
}

void add_mesh(ExperimentConfig& config, const Settings& s, config::Errors& errors) {
  const std::string topology = s.text("compile_topology");
  int64_t devices = 1, slices = std::max<int64_t>(s.integer("num_slices"), 1);
  if (!topology.empty()) {
    const auto known = maxtext::topology_devices(topology);
    if (!known) errors.add("compile_topology", fmt::format("MaxText has no topology {}", topology));
    devices = known.value_or(1);
    slices = std::max<int64_t>(s.integer("compile_topology_num_slices"), 1);
  } else {
    for (const char* key : {"ici_data_parallelism", "ici_fsdp_parallelism", "ici_tensor_parallelism"}) {
      devices *= std::clamp<int64_t>(s.integer(key), 1, 1 << 20);
    }
  }
  const Degrees ici = degrees(s, "ici", devices, errors), dcn = degrees(s, "dcn", slices, errors);
  Tpl<BaseModel>& model = config.task.model;
  model.set("mesh_axis_names", std::vector<std::string>{"replica", "data", "mdl"});
  model.set("ici_mesh_shape", std::vector<int64_t>(ici.begin(), ici.end()));
  model.set("dcn_mesh_shape", std::vector<int64_t>(dcn.begin(), dcn.end()));
  config.task.train.batch_split = {"replica", "data"};
  auto lm = model.get<Tpl<LanguageModelLayer>>("lm_tpl");
  set_sharding(lm, sharding_v1({}, OptimizedFor::kTraining));
}

int64_t num_devices(const ExperimentConfig& config) {
  int64_t devices = 1;
  for (const char* field : {"ici_mesh_shape", "dcn_mesh_shape"}) {
    const auto shape = config.task.model.get<std::optional<std::vector<int64_t>>>(field);
    for (const int64_t size : *shape) devices *= size;
  }
  return devices;
}

template <class Optimizer>
Tpl<pax::Optimizer> with_rate(Optimizer optimizer, const Settings& s, const Tpl<Schedule>& schedule) {
  optimizer.learning_rate = s.number("learning_rate");
  optimizer.lr_schedule = schedule;
  optimizer.clip_gradient_norm_to_value = s.number("gradient_clipping_threshold");
  return optimizer;
}

Tpl<Schedule> schedule_of(const Settings& s, config::Errors& errors) {
  if (s.text("lr_schedule_type") != "cosine") errors.add("lr_schedule_type", "only cosine has a counterpart");
  const int64_t steps =
      s.integer("learning_rate_schedule_steps") > 0 ? s.integer("learning_rate_schedule_steps") : s.integer("steps");
  LinearRampupCosineDecay::Config cosine;
  const auto warmup = static_cast<int64_t>(static_cast<double>(steps) * s.number("warmup_steps_fraction"));
  cosine.warmup_steps = warmup;
  cosine.decay_start = warmup;
  cosine.decay_end = std::max(steps - 1, warmup + 1);
  cosine.min_ratio = s.number("learning_rate_final_fraction");
  cosine.max = 1.0;
  return cosine;
}

Tpl<pax::Optimizer> optimizer_of(const Settings& s, config::Errors& errors) {
  const Tpl<Schedule> schedule = schedule_of(s, errors);
  const std::string type = s.text("opt_type");
  Tpl<pax::Optimizer> optimizer;
  if (type == "sgd") {
    optimizer = with_rate(Sgd::Config{}, s, schedule);
  } else {
    if (type != "adamw" && type != "adam_pax") {
      errors.add("opt_type", fmt::format("\"{}\" has no counterpart; use adamw, adam_pax or sgd", type));
    }
    Adam::Config adam;
    adam.beta1 = s.number("adam_b1");
    adam.beta2 = s.number("adam_b2");
    adam.epsilon = s.number("adam_eps");
    adam.epsilon_root = s.number("adam_eps_root");
    adam.weight_decay = s.number("adam_weight_decay");
    adam.clip_threshold = 0;
    optimizer = with_rate(adam, s, schedule);
  }
  const int64_t parts = s.integer("gradient_accumulation_steps");
  if (parts <= 1) return optimizer;
  StaticAccumulator::Config accumulator;
  accumulator.num_sub_batches = parts;
  accumulator.optimizer_tpl = optimizer;
  accumulator.learning_rate = s.number("learning_rate");
  accumulator.lr_schedule = schedule;
  return accumulator;
}

void add_training(ExperimentConfig& config, const Settings& s, config::Errors& errors) {
  TrainConfig& train = config.task.train;
  Learner::Config learner;
  learner.loss_name = "total_loss";
  learner.bprop_variable_inclusion = s.list("trainable_parameters_mask");
  learner.optimizer = optimizer_of(s, errors);
  train.learner = learner;
  const int64_t steps = s.integer("steps") == -1 ? s.integer("learning_rate_schedule_steps") : s.integer("steps");
  train.num_train_steps = static_cast<double>(std::max<int64_t>(steps, 0));
  train.summary_interval_steps = std::max<int64_t>(s.integer("log_period"), 1);
  train.max_inflight_steps = std::max<int64_t>(s.integer("max_inflight_computations"), 1);
  train.random_seed = s.integer("init_weights_seed");
  train.eval_interval_steps = std::max<int64_t>(s.integer("eval_interval"), 0);
  if (s.number("target_eval_loss") > 0) {
    config.task.early_stopping_fn = config::Value::map();
    config.task.early_stopping_fn.add("target_log_pplx", config::Value::of(s.number("target_eval_loss")));
  }
  const int64_t kept = s.integer("max_num_checkpoints_to_keep");
  train.save_max_to_keep = kept > 0 ? kept : 1'000'000;
  train.save_interval_steps = std::max<int64_t>(s.integer("checkpoint_period"), 1);
  if (!s.flag("enable_checkpointing")) train.save_interval_steps = 1'000'000'000;
}

int64_t rows(double per_device, int64_t devices) {
  return std::max<int64_t>(static_cast<int64_t>(std::clamp(per_device * static_cast<double>(devices), 0.0, 1e12)), 1);
}

void add_inputs(ExperimentConfig& config, const Settings& s) {
  const int64_t devices = num_devices(config);
  data::SyntheticLmData::Config input;
  input.name = "train";
  input.batch_size = rows(s.number("per_device_batch_size"), devices);
  input.seq_len = s.integer("max_target_length");
  input.input_random_seed = s.integer("data_shuffle_seed");
  config.input = input;
  if (s.integer("eval_interval") < 1) return;
  const double per_device = s.number("eval_per_device_batch_size");
  input.name = "eval";
  input.batch_size = rows(per_device > 0 ? per_device : s.number("per_device_batch_size"), devices);
  input.eval_loop_num_batches = s.integer("eval_steps") < 1 ? 1 : s.integer("eval_steps");
  config.eval_inputs.emplace_back(input);
}

void set_platform(ExperimentConfig& config, const Settings& s, config::Errors& errors) {
  const std::string hardware = s.text("hardware");
  if (hardware == "gpu" || hardware == "gpu_multiprocess") {
    config.platform.name = "cuda";
  } else if (hardware == "tpu" || hardware == "cpu") {
    config.platform.name = hardware;
  } else {
    errors.add("hardware", fmt::format("\"{}\": use tpu, gpu or cpu", hardware));
  }
}

std::string one_line(const config::Value& value) { return config::to_json(value); }

/// The report's line of a key that differs from base.yml, or a mistake.
void judge(const maxtext::Key& key, const Settings& s, std::vector<MaxTextLine>& report, config::Errors& errors) {
  if (!s.is_changed(key.name)) return;
  const std::string value = one_line(s.value(key.name));
  const std::string field(maxtext::field_of(key.name));
  if (key.treatment == Treatment::kRefuse) {
    errors.add(key.name, fmt::format("{} is refused: {}", value, key.note));
  } else if (key.treatment == Treatment::kIgnore) {
    report.push_back({key.name, value, "ignored", "", key.note});
  } else if (field.empty()) {
    errors.add(key.name, fmt::format("{} has no counterpart yet ({}); leave it at {}", value, key.note,
                                     key.default_text.empty() ? "\"\"" : key.default_text));
  } else {
    report.push_back({key.name, value, key.treatment == Treatment::kMap ? "mapped" : "approximated", field, key.note});
  }
}

/// Keys that differ and yet change nothing here that the user could see.
bool is_harmless(const std::string& key) {
  static constexpr std::string_view kHarmless[] = {"tokenizer_type",        "logical_axis_rules", "tokenizer_path",
                                                   "base_output_directory", "dataset_path",       "dataset_name",
                                                   "eval_dataset_name",     "logits_dot_in_fp32"};
  return std::ranges::find(kHarmless, key) != std::end(kHarmless);
}

}  // namespace

MaxTextConversion from_maxtext(std::span<const std::filesystem::path> files, std::span<const std::string> arguments) {
  config::Errors errors;
  const Settings settings(files, arguments, errors);
  MaxTextConversion out;
  for (const auto& [name, key] : maxtext::keys()) {
    if (is_harmless(name)) {
      if (settings.is_changed(name)) {
        out.report.push_back({name, one_line(settings.value(name)), "ignored", "",
                              name == "logical_axis_rules" ? "the mesh axes decide" : "set `input` to real data"});
      }
      continue;
    }
    judge(key, settings, out.report, errors);
  }
  out.config.task.name = settings.text("run_name").empty() ? "maxtext" : settings.text("run_name");
  out.config.task.model = maxtext::model_of(settings, errors);
  if (out.config.task.model) {
    add_mesh(out.config, settings, errors);
    add_inputs(out.config, settings);
  }
  add_training(out.config, settings, errors);
  set_platform(out.config, settings, errors);
  errors.throw_if_any();
  if (settings.text("dataset_type") != "synthetic") {
    out.report.push_back({"dataset_type", one_line(settings.value("dataset_type")), "approximated", "input",
                          "synthetic rows of this shape; set `input` to the data"});
  }
  return out;
}

std::string maxtext_key_table() {
  std::string text = "| key | default | treatment | field | note |\n|---|---|---|---|---|\n";
  const auto cell = [](std::string value) {
    for (size_t at = value.find('|'); at != std::string::npos; at = value.find('|', at + 2)) value.insert(at, "\\");
    return value;
  };
  for (const auto& [name, key] : maxtext::keys()) {
    const std::string field(maxtext::field_of(name));
    std::string_view treatment = "ignored with a warning";
    if (key.treatment == Treatment::kRefuse) {
      treatment = "refused when changed";
    } else if (!field.empty()) {
      treatment = key.treatment == Treatment::kMap ? "mapped" : "approximated";
    } else if (key.treatment != Treatment::kIgnore && !is_harmless(name)) {
      treatment = "refused when changed: no counterpart yet";
    }
    const std::string shown = field.empty() ? "" : fmt::format("`{}`", field);
    text +=
        fmt::format("| `{}` | `{}` | {} | {} | {} |\n", name, cell(key.default_text), treatment, shown, cell(key.note));
  }
  return text;
}

std::span<const std::string_view> maxtext_models() {
  static constexpr std::string_view kModels[] = {"gemma-2b",
                                                 "gemma-7b",
                                                 "gemma2-27b",
                                                 "gemma2-2b",
                                                 "gemma2-9b",
                                                 "gpt3-175b",
                                                 "gpt3-22b",
                                                 "gpt3-52k",
                                                 "gpt3-6b",
                                                 "llama2-13b",
                                                 "llama2-70b",
                                                 "llama2-7b",
                                                 "llama3-405b",
                                                 "llama3-70b",
                                                 "llama3-8b",
                                                 "llama3.1-405b",
                                                 "llama3.1-70b",
                                                 "llama3.1-8b",
                                                 "llama3.3-70b",
                                                 "mistral-7b",
                                                 "mixtral-8x22b",
                                                 "mixtral-8x7b",
                                                 "qwen2.5-1.5b",
                                                 "qwen2.5-14b",
                                                 "qwen2.5-7b",
                                                 "qwen3-0.6b",
                                                 "qwen3-1.7b",
                                                 "qwen3-1.7b-base",
                                                 "qwen3-14b",
                                                 "qwen3-14b-base",
                                                 "qwen3-235b-a22b",
                                                 "qwen3-30b-a3b",
                                                 "qwen3-30b-a3b-base",
                                                 "qwen3-32b",
                                                 "qwen3-4b",
                                                 "qwen3-4b-base",
                                                 "qwen3-4b-thinking-2507",
                                                 "qwen3-480b-a35b",
                                                 "qwen3-8b",
                                                 "qwen3-8b-base"};
  return kModels;
}

}  // namespace pax
