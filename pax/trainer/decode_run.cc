#include "pax/trainer/decode_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "pax/base/error.h"
#include "pax/base/files.h"
#include "pax/data/tokenizer.h"
#include "pax/task/decode_steps.h"
#include "pax/task/decoding/decoder.h"
#include "pax/trainer/decode_rows.h"
#include "pax/trainer/inputs.h"

namespace pax {
namespace {

constexpr const char* kLengths = "prefix_lengths";

int64_t columns_of(const data::BatchSpec& spec) {
  for (const char* field : {"ids", "tgt/ids"}) {
    const auto at = spec.find(field);
    if (at != spec.end() && at->second.shape.rank() == 2) return at->second.shape[1];
  }
  return 0;
}

/// The task with `seqlen` set when the experiment leaves it open: prompts and what is written fit.
SingleTask with_length(SingleTask task, int64_t columns, bool prompts_are_cut) {
  if (!task.model.has_field("decoder_tpl") || columns == 0) return task;
  const auto decoder = task.model.get<Tpl<Decoder>>("decoder_tpl");
  if (!decoder || decoder.get<int64_t>("seqlen") != 0) return task;
  int64_t room = 0;
  if (const auto steps = decoder.get<std::optional<OneOrMore>>("max_decode_steps"); steps && !prompts_are_cut) {
    const int64_t* one = std::get_if<0>(&*steps);
    room = one != nullptr ? *one : *std::ranges::max_element(std::get<1>(*steps));
  }
  task.model = task.model.clone();
  task.model.set("decoder_tpl.seqlen", columns + room);
  return task;
}

/// The first `prompt_tokens` tokens of each row that are no padding.
HostArray cut_lengths(const HostTree& batch, int64_t prompt_tokens) {
  const HostArray& paddings = batch.at("paddings");
  const int64_t rows = paddings.shape()[0], columns = paddings.shape()[1];
  const std::vector<double> padding = paddings.to_doubles();
  std::vector<int32_t> lengths;
  for (int64_t row = 0; row < rows; ++row) {
    int64_t real = 0;
    while (real < columns && padding[static_cast<size_t>(row * columns + real)] == 0) ++real;
    lengths.push_back(static_cast<int32_t>(std::min(real, prompt_tokens)));
  }
  return HostArray::of(std::span<const int32_t>(lengths), {rows});
}

}  // namespace

struct DecodeRun::Work {
  std::shared_ptr<data::Input> input;
  std::shared_ptr<const Program> program;
};

DecodeRun::DecodeRun(const ExperimentConfig& config, DecodeRunOptions options)
    : options_(std::move(options)), session_(config) {
  for (std::shared_ptr<data::Input>& input : build_eval_inputs(config)) {
    work_.push_back(std::make_shared<Work>(Work{.input = std::move(input), .program = nullptr}));
  }
  if (work_.empty()) {
    fail<ConfigError>("eval_inputs: the experiment has nothing to decode; add an input to eval_inputs");
  }
}

const Program& DecodeRun::program_of(Work& work) {
  if (!work.program) {
    data::BatchSpec spec = work.input->spec();
    const bool cut = options_.prompt_tokens > 0;
    if (cut) {
      if (!spec.contains("paddings") || !spec.contains("ids")) {
        fail<ConfigError>("--prompt_tokens: input \"{}\" has no fields ids and paddings; leave it out",
                          work.input->name());
      }
      spec[kLengths] = {DType::kS32, {spec.at("ids").shape[0]}};
    }
    const SingleTask task = with_length(session_.config().task, columns_of(spec), cut);
    work.program = session_.compile(trace_decode_step(task, spec), "decode_step");
  }
  return *work.program;
}

bool DecodeRun::decode_input(Work& work, const DeviceTree& variables, const std::function<bool()>& stop_requested,
                             DecodeOutcome& outcome) {
  const Program& program = program_of(work);
  data::Input& input = *work.input;
  input.reset();
  DecodedRows rows(input);
  const int64_t asked = options_.max_batches > 0 ? options_.max_batches : input.common().eval_loop_num_batches;
  for (int32_t index = 0; asked < 0 || index < asked; ++index) {
    if (stop_requested()) return false;
    std::optional<HostTree> batch = input.next_padded();
    if (!batch) break;
    if (options_.prompt_tokens > 0) (*batch)[kLengths] = cut_lengths(*batch, options_.prompt_tokens);
    DeviceTree inputs = session_.batch_to_device(*batch);
    inputs.emplace("batch_index", DeviceArray::put(session_.mesh(), HostArray::scalar(index)));
    for (const auto& argument : program.text().arguments) {
      if (const auto at = variables.find(argument.name); at != variables.end()) inputs.insert(*at);
    }
    rows.add(*batch, to_host(program.run(inputs)));
  }
  const std::filesystem::path& path = outcome.files.at(input.name());
  std::filesystem::create_directories(path.parent_path());
  write_file_atomically(path, rows.text());
  outcome.metrics[input.name()] = rows.metrics();
  return true;
}

DecodeOutcome DecodeRun::decode(int64_t step, const std::function<bool()>& stop_requested) {
  DecodeOutcome outcome{.step = step};
  std::optional<LoadedVariables> loaded;
  for (const std::shared_ptr<Work>& work : work_) {
    const std::string& name = work->input->name();
    const std::filesystem::path path =
        options_.job_log_dir / "decoder_out" / name / fmt::format("decoder_out_{}_shard_0.jsonl", step);
    outcome.files[name] = path;
    if (!options_.redo && std::filesystem::exists(path)) {
      ++outcome.done_before;
      continue;
    }
    if (!loaded) {
      const bool average =
          options_.weights == WhichWeights::kAsConfigured && session_.config().task.train.decode_use_ema_states;
      loaded =
          load_variables(session_, options_.job_log_dir, step, average ? WhichWeights::kAverage : options_.weights);
    }
    if (!decode_input(*work, loaded->values, stop_requested, outcome)) {
      outcome.stopped = true;
      break;
    }
  }
  return outcome;
}

}  // namespace pax
