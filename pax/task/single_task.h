#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pax/config/config.h"
#include "pax/optim/learner.h"
#include "pax/task/base_model.h"

namespace pax {

/// How a task trains (paxml SingleTask.Train), with Pax's names and defaults.
struct TrainConfig {
  static constexpr std::string_view kName = "paxml.tasks_lib.SingleTask.Train";
  Tpl<Learner> learner = Learner::Config{};
  double num_train_steps = 1e7;
  int64_t save_interval_steps = 5000;
  std::string save_keep_interval_duration = "12h";
  int64_t save_max_to_keep = 10;
  int64_t max_inflight_steps = 2;
  int64_t summary_interval_steps = 100;
  std::optional<int64_t> log_train_output_interval_steps;
  std::optional<int64_t> summary_accumulate_interval_steps;
  bool async_summary_writing = true;
  bool variable_norm_summary = true;
  int64_t eval_interval_steps = 100;
  bool eval_skip_train = false;
  bool eval_use_ema_states = false;
  /// Mesh axes over which the batch dimension of every input is split.
  std::vector<std::string> batch_split;
  config::Value inputs_split_mapping;
  config::Value init_from_checkpoint_rules;
  std::optional<int64_t> decode_interval_steps;
  int64_t decode_start_after_n_steps = 0;
  bool decode_use_ema_states = false;
  int64_t compute_steps_per_sec_interval_steps = 10;
  int64_t profiler_num_steps = 2;
  double profiler_min_duration_sec = 1.0;
  std::optional<int64_t> profiler_capture_step;
  std::optional<int64_t> profiler_max_num_hosts;
  bool profiler_capture_host_profile = false;
  bool always_use_train_for_model_init = true;
  bool enforce_input_specs = true;
  int64_t random_seed = 1234;
  std::vector<std::string> apply_mutable_list{"aux_loss", "summaries", "non_trainable", "batch_stats", "params_axes"};
  std::optional<std::string> tensorstore_metadata_key;
  bool enable_input_checkpointing = false;
  config::Value restore_transformations;
  std::optional<std::string> external_checkpoint_path;
  config::Value external_checkpoint_handler;
  bool report_progress_hook = false;
  int64_t gc_interval_steps = 0;
  static void fields(auto& self, auto&& visit) {
    visit("learner", self.learner);
    visit("num_train_steps", self.num_train_steps, {.doc = "Updates after which training ends.", .min = 0});
    visit("save_interval_steps", self.save_interval_steps, {.doc = "Updates between checkpoints.", .min = 1});
    visit("save_keep_interval_duration", self.save_keep_interval_duration,
          "Keep one checkpoint of each such time beyond save_max_to_keep: \"12h\".");
    visit("save_max_to_keep", self.save_max_to_keep, {.doc = "Newest checkpoints that are kept.", .min = 1});
    visit("max_inflight_steps", self.max_inflight_steps, {.doc = "Steps sent ahead of their results.", .min = 1});
    visit("summary_interval_steps", self.summary_interval_steps, {.doc = "Updates between summaries.", .min = 1});
    visit("log_train_output_interval_steps", self.log_train_output_interval_steps);
    visit("summary_accumulate_interval_steps", self.summary_accumulate_interval_steps);
    visit("async_summary_writing", self.async_summary_writing);
    visit("variable_norm_summary", self.variable_norm_summary);
    visit("eval_interval_steps", self.eval_interval_steps, {.doc = "Updates between evaluations; 0: none.", .min = 0});
    visit("eval_skip_train", self.eval_skip_train);
    visit("eval_use_ema_states", self.eval_use_ema_states, "Evaluate the moving average of the weights.");
    visit("batch_split", self.batch_split, "Mesh axes over which the rows of a batch are split.");
    visit("inputs_split_mapping", self.inputs_split_mapping);
    visit("init_from_checkpoint_rules", self.init_from_checkpoint_rules);
    visit("decode_interval_steps", self.decode_interval_steps);
    visit("decode_start_after_n_steps", self.decode_start_after_n_steps);
    visit("decode_use_ema_states", self.decode_use_ema_states);
    visit("compute_steps_per_sec_interval_steps", self.compute_steps_per_sec_interval_steps);
    visit("profiler_num_steps", self.profiler_num_steps);
    visit("profiler_min_duration_sec", self.profiler_min_duration_sec);
    visit("profiler_capture_step", self.profiler_capture_step);
    visit("profiler_max_num_hosts", self.profiler_max_num_hosts);
    visit("profiler_capture_host_profile", self.profiler_capture_host_profile);
    visit("always_use_train_for_model_init", self.always_use_train_for_model_init);
    visit("enforce_input_specs", self.enforce_input_specs);
    visit("random_seed", self.random_seed, "Seed of the initial weights and of everything random in a step.");
    visit("apply_mutable_list", self.apply_mutable_list);
    visit("tensorstore_metadata_key", self.tensorstore_metadata_key);
    visit("enable_input_checkpointing", self.enable_input_checkpointing);
    visit("restore_transformations", self.restore_transformations);
    visit("external_checkpoint_path", self.external_checkpoint_path);
    visit("external_checkpoint_handler", self.external_checkpoint_handler);
    visit("report_progress_hook", self.report_progress_hook);
    visit("gc_interval_steps", self.gc_interval_steps);
  }
};

/// How a task decodes (paxml SingleTask.Decode).
struct DecodeConfig {
  static constexpr std::string_view kName = "paxml.tasks_lib.SingleTask.Decode";
  bool prng_key_fold_with_batch_index = false;
  int64_t random_seed = 1234;
  int64_t profiler_num_steps = 0;
  double profiler_min_duration_sec = 1.0;
  int64_t profiler_capture_step = 1;
  std::optional<int64_t> profiler_max_num_hosts;
  std::vector<std::string> apply_mutable_list{"decoder_cache", "summaries"};
  std::string metrics_prefix = "Metrics/";
  static void fields(auto& self, auto&& visit) {
    visit("prng_key_fold_with_batch_index", self.prng_key_fold_with_batch_index);
    visit("random_seed", self.random_seed);
    visit("profiler_num_steps", self.profiler_num_steps);
    visit("profiler_min_duration_sec", self.profiler_min_duration_sec);
    visit("profiler_capture_step", self.profiler_capture_step);
    visit("profiler_max_num_hosts", self.profiler_max_num_hosts);
    visit("apply_mutable_list", self.apply_mutable_list);
    visit("metrics_prefix", self.metrics_prefix);
  }
};

/// How a task evaluates (paxml SingleTask.Evaluate).
struct EvaluateConfig {
  static constexpr std::string_view kName = "paxml.tasks_lib.SingleTask.Evaluate";
  int64_t random_seed = 1234;
  std::vector<std::string> apply_mutable_list{"aux_loss", "summaries", "non_trainable"};
  static void fields(auto& self, auto&& visit) {
    visit("random_seed", self.random_seed);
    visit("apply_mutable_list", self.apply_mutable_list);
  }
};

struct InferConfig {
  static constexpr std::string_view kName = "paxml.tasks_lib.SingleTask.Infer";
  int64_t random_seed = 1234;
  static void fields(auto& self, auto&& visit) { visit("random_seed", self.random_seed); }
};

/// Noise added to weights in training (paxml SingleTask.VariationalNoise).
struct VariationalNoiseConfig {
  static constexpr std::string_view kName = "paxml.tasks_lib.SingleTask.VariationalNoise";
  double vn_scale = 0.0;
  std::string vn_regex;
  int64_t vn_start_step = 0;
  static void fields(auto& self, auto&& visit) {
    visit("vn_scale", self.vn_scale);
    visit("vn_regex", self.vn_regex);
    visit("vn_start_step", self.vn_start_step);
  }
};

/// A model and how it learns (paxml tasks_lib.SingleTask).
struct SingleTask {
  static constexpr std::string_view kName = "paxml.tasks_lib.SingleTask";
  std::string name;
  Tpl<BaseModel> model;
  TrainConfig train;
  DecodeConfig decode;
  EvaluateConfig evaluate;
  InferConfig infer;
  config::Value metrics;
  config::Value loss_aggregator;
  VariationalNoiseConfig vn;
  config::Value infer_writer;
  config::Value early_stopping_fn;
  int64_t summary_verbosity = 3;
  static void fields(auto& self, auto&& visit) {
    visit("name", self.name);
    visit("model", self.model);
    visit("train", self.train);
    visit("decode", self.decode);
    visit("evaluate", self.evaluate);
    visit("infer", self.infer);
    visit("metrics", self.metrics);
    visit("loss_aggregator", self.loss_aggregator);
    visit("vn", self.vn);
    visit("infer_writer", self.infer_writer);
    visit("early_stopping_fn", self.early_stopping_fn);
    visit("summary_verbosity", self.summary_verbosity);
  }
  void validate(config::Errors& errors) const;
};

}  // namespace pax
