#include "pax/trainer/train.h"

#include <fmt/format.h>

#include "pax/base/error.h"
#include "pax/base/files.h"
#include "pax/base/log.h"
#include "pax/base/text.h"
#include "pax/config/yaml.h"
#include "pax/task/flops.h"
#include "pax/trainer/evaluate.h"
#include "pax/trainer/hooks/checkpoint_hook.h"
#include "pax/trainer/hooks/eval_hook.h"
#include "pax/trainer/hooks/summary_hook.h"
#include "pax/trainer/inputs.h"
#include "pax/trainer/loop.h"
#include "pax/trainer/peak.h"
#include "pax/trainer/session.h"
#include "pax/trainer/stop_signal.h"
#include "pax/trainer/warm_start_state.h"

namespace pax {
namespace {

constexpr const char* kInputItem = "train_input/process_0-of-1";

Tree<TensorType> types_of(const std::vector<StateEntry>& entries) {
  Tree<TensorType> types;
  for (const StateEntry& entry : entries) types[entry.name] = entry.type;
  return types;
}

/// One training run: what it holds while it lasts.
class TrainRun {
 public:
  TrainRun(const ExperimentConfig& config, const RunOptions& options)
      : options_(options),
        checkpoints_(options.job_log_dir, checkpoint_config(config.task.train)),
        input_(build_train_input(config)),
        session_(config),
        batches_(input_) {}

  TrainOutcome run() {
    write_run_files();
    const SingleTask& task = session_.config().task;
    const TracedProgram traced = trace_train_step(task, input_->spec());
    params_ = traced.params;
    const int64_t first_step = restore_or_init(traced.state);
    const std::shared_ptr<const Program> step = session_.compile(traced, "train_step");
    const auto num_steps = static_cast<int64_t>(task.train.num_train_steps);
    ProgressDisplay display;
    EvalHook* eval = add_hooks(first_step, num_steps, display);
    const LoopEnd end = run_loop(
        {.step = *step,
         .state = state_,
         .batches = batches_,
         .hooks = hooks_,
         .stop_requested = [this] { return stop_.requested(); },
         .to_device = [this](const HostTree& batch) { return session_.batch_to_device(batch); },
         .check_batch = [this, vocab = vocabulary_size(session_.config())](
                            const HostTree& batch, const data::TokenCount& count) { check_batch(batch, count, vocab); },
         .first_step = first_step,
         .num_steps = num_steps,
         .max_inflight = task.train.max_inflight_steps});
    checkpoints_.close();
    if (end.reason == StopReason::kDataExhausted) {
      display.message(fmt::format("data exhausted at step {} of {}; set input.num_epochs or train fewer steps",
                                  end.step, num_steps));
    }
    return {end.reason, end.step, eval->results()};
  }

 private:
  static CheckpointManager::Config checkpoint_config(const TrainConfig& train) {
    return {.save_interval_steps = train.save_interval_steps,
            .save_max_to_keep = train.save_max_to_keep,
            .save_keep_interval_duration = train.save_keep_interval_duration};
  }

  void write_run_files() {
    write_file_atomically(options_.job_log_dir / "model_params.txt", config::print(session_.config()));
    for (const auto& [name, text] : options_.extra_files) write_file_atomically(options_.job_log_dir / name, text);
  }

  /// Which variable came from where.
  void write_provenance(const WarmStartResult& start) {
    std::string text;
    for (const auto& [name, source] : start.from) text += fmt::format("{} <- {}\n", name, source);
    write_file_atomically(options_.job_log_dir / "init_from_checkpoint.txt", text);
  }

  /// Fills the state; returns how many updates it has.
  int64_t restore_or_init(const std::vector<StateEntry>& entries) {
    if (auto saved = checkpoints_.restore_latest(to_checkpoint_names(types_of(entries)))) {
      log_info("continuing from checkpoint {} in {}", saved->step, checkpoints_.folder().string());
      state_ = session_.state_to_device(from_checkpoint_names(std::move(saved->state)), entries);
      if (const auto at = saved->items.find(kInputItem); at != saved->items.end()) {
        batches_.restore(std::span(&at->second, 1));
      }
      return saved->step;
    }
    state_ = session_.compile(trace_init(session_.config().task), "init")->run({});
    const WarmStartResult start = warm_start_state(session_, params_, entries, state_);
    if (!start.from.empty()) write_provenance(start);
    return start.step;
  }

  EvalHook* add_hooks(int64_t first_step, int64_t num_steps, ProgressDisplay& display) {
    const TrainConfig& train = session_.config().task.train;
    const SpeedLimits limits{
        .flops_per_step = training_flops(*trace_eval_step(session_.config().task, input_->spec()).graph),
        .peak_flops_per_s = measure_peak_flops(session_.mesh(), DType::kF32, session_.cache())};
    hooks_.push_back(std::make_unique<SummaryHook>(
        SummaryOptions{.job_log_dir = options_.job_log_dir,
                       .first_step = first_step,
                       .num_steps = num_steps,
                       .interval = train.summary_interval_steps,
                       .loss_name = train.learner.get<std::optional<std::string>>("loss_name").value_or("total_loss"),
                       .limits = limits,
                       .compile_count = [this] { return session_.compile_count(); }},
        display));
    hooks_.push_back(std::make_unique<CheckpointHook>(checkpoints_, [this] {
      std::map<std::string, std::string> items;
      if (!batches_.state().empty()) items[kInputItem] = batches_.state();
      return items;
    }));
    auto eval = std::make_unique<EvalHook>(
        make_evaluators(session_),
        EvalOptions{
            .interval = train.eval_interval_steps,
            .last_step = num_steps,
            .summaries = options_.job_log_dir / "summaries",
            .stop_requested = [this] { return stop_.requested(); },
            .variables =
                [this](const DeviceTree& state) { return eval_variables(session_.config().task, params_, state); }},
        display);
    EvalHook* raw = eval.get();
    hooks_.push_back(std::move(eval));
    return raw;
  }

  void check_batch(const HostTree& batch, const data::TokenCount& count, int64_t vocab_size) const {
    if (vocab_size > 0) data::require_ids_below(batch, vocab_size);
    if (count.weight == 0) {
      fail<RuntimeError>("input \"{}\": a training batch has no target with weight; check the input's weights",
                         input_->name());
    }
  }

  const RunOptions options_;
  StopSignal stop_;
  CheckpointManager checkpoints_;
  std::shared_ptr<data::Input> input_;
  Session session_;
  data::Prefetcher batches_;
  std::deque<Param> params_;
  DeviceTree state_;
  std::vector<std::unique_ptr<Hook>> hooks_;
};

}  // namespace

TrainOutcome train(const ExperimentConfig& config, const RunOptions& options) {
  std::filesystem::create_directories(options.job_log_dir);
  return TrainRun(config, options).run();
}

}  // namespace pax
