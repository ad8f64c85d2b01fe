#include <fmt/core.h>

#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/text_commands.h"
#include "pax/base/error.h"
#include "pax/base/files.h"
#include "pax/serving/text_stream.h"
#include "pax/trainer/stop_signal.h"

namespace pax::cli {
namespace {

using Clock = std::chrono::steady_clock;

double seconds(Clock::duration time) { return std::chrono::duration<double>(time).count(); }

/// One text that is being written, and what is told of it.
struct Sample {
  std::unique_ptr<TextStream> stream;
  std::string text;
  std::vector<DrawnToken> tokens;
  FinishReason reason = FinishReason::kCancelled;
  std::string error;
};

nlohmann::json sample_json(const Sample& sample, bool logprobs) {
  nlohmann::json ids = nlohmann::json::array(), probs = nlohmann::json::array();
  for (const DrawnToken& token : sample.tokens) {
    ids.push_back(token.id);
    nlohmann::json top = nlohmann::json::array();
    for (const auto& [id, logprob] : token.top) top.push_back({id, logprob});
    if (logprobs) probs.push_back({{"logprob", token.logprob}, {"entropy", token.entropy}, {"top", top}});
  }
  nlohmann::json out{{"text", sample.text}, {"ids", ids}, {"finish_reason", finish_reason_name(sample.reason)}};
  if (logprobs) out["logprobs"] = probs;
  return out;
}

/// Writes on from one prompt and shows the text as it comes.
class Generation {
 public:
  Generation(TextModel& model, SlotLoop& loop, const GenerateOptions& options, SamplingOptions sampling)
      : model_(model), loop_(loop), options_(options), sampling_(std::move(sampling)) {}

  nlohmann::json run(const std::string& prompt) {
    const std::vector<int32_t> ids = model_.encode_prompt(prompt);
    model_.steps().prepare(static_cast<int64_t>(ids.size()));
    const StopSignal stop;
    const Clock::time_point start = Clock::now();
    if (options_.echo) show(prompt);
    for (size_t i = 0; i < samples_.size(); ++i) loop_.admit(sequence(i, ids));
    while (loop_.busy() && !stop.requested()) {
      loop_.turn();
      if (steps_++ == 0) first_token_ = Clock::now() - start;
    }
    loop_.end_all(FinishReason::kCancelled);
    const double after_first = seconds(Clock::now() - start - first_token_);
    return report(prompt, ids.size(), after_first);
  }

 private:
  static void show(std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
  }

  std::shared_ptr<Sequence> sequence(size_t i, const std::vector<int32_t>& ids) {
    Sample& sample = samples_[i];
    sample.stream = std::make_unique<TextStream>(model_.tokenizer(), ids, sampling_.stop);
    const auto add = [this, &sample](const std::string& text) {
      sample.text += text;
      if (samples_.size() == 1) show(text);
    };
    auto sequence = std::make_shared<Sequence>();
    sequence->prompt = ids;
    sequence->sampling = sampling_;
    sequence->sampling.seed += i;
    sequence->on_token = [&sample, add](const DrawnToken& token) {
      sample.tokens.push_back(token);
      add(sample.stream->push(token.id));
      return !sample.stream->stopped();
    };
    sequence->on_end = [&sample, add](FinishReason reason, const std::string& error) {
      add(sample.stream->finish());
      sample.reason = reason;
      sample.error = error;
    };
    return sequence;
  }

  nlohmann::json report(const std::string& prompt, size_t prompt_tokens, double after_first) {
    size_t tokens = 0;
    nlohmann::json all = nlohmann::json::array();
    for (size_t i = 0; i < samples_.size(); ++i) {
      if (samples_.size() > 1) show(fmt::format("--- sample {}\n{}\n", i, samples_[i].text));
      if (!samples_[i].error.empty()) fail<RuntimeError>("{}", samples_[i].error);
      tokens += samples_[i].tokens.size();
      all.push_back(sample_json(samples_[i], sampling_.logprobs >= 0));
    }
    if (samples_.size() == 1) show("\n");
    const double speed = after_first > 0 ? static_cast<double>(tokens - samples_.size()) / after_first : 0;
    fmt::print(stderr, "{} prompt tokens, first token after {:.0f} ms, {} tokens, {:.1f} tokens/s; {}\n", prompt_tokens,
               1e3 * seconds(first_token_), tokens, tokens > samples_.size() ? speed : 0.0,
               finish_reason_name(samples_[0].reason));
    return {{"prompt", prompt},
            {"prompt_tokens", prompt_tokens},
            {"samples", all},
            {"checkpoint_step", model_.checkpoint_step()},
            {"first_token_s", seconds(first_token_)},
            {"tokens_per_s", speed},
            {"compile_count", model_.compile_count()}};
  }

  TextModel& model_;
  SlotLoop& loop_;
  const GenerateOptions& options_;
  const SamplingOptions sampling_;
  std::vector<Sample> samples_{static_cast<size_t>(options_.num_samples)};
  Clock::duration first_token_{};
  int64_t steps_ = 0;
};

bool read_line(std::string& line) {
  line.clear();
  for (int c = std::fgetc(stdin); c != EOF; c = std::fgetc(stdin)) {
    if (c == '\n') return true;
    line.push_back(static_cast<char>(c));
  }
  return !line.empty();
}

}  // namespace

SamplingOptions SamplingFlags::over(SamplingOptions options) const {
  const auto set = [](auto& to, const auto& from) {
    if (from) to = *from;
  };
  set(options.temperature, temperature);
  set(options.p, p);
  set(options.min_p, min_p);
  set(options.epsilon_p, epsilon_p);
  set(options.k, k);
  set(options.max_decode_steps, max_decode_steps);
  set(options.min_decode_steps, min_decode_steps);
  set(options.logprobs, logprobs);
  set(options.seed, seed);
  if (!eos_id.empty()) options.eos_id = eos_id;
  if (!stop.empty()) options.stop = stop;
  // Options of a draw mean that there is one.
  if (!temperature && options.temperature == 0 && (p || k || min_p || epsilon_p)) options.temperature = 1;
  return options;
}

TextModelOptions ModelFlags::options(const Common& common, int64_t rows) const {
  return {.job_log_dir = common.job_log_dir,
          .step = step,
          .rows = rows,
          .seqlen = seqlen,
          .weights = ema ? WhichWeights::kAverage : WhichWeights::kAsConfigured,
          .add_bos = add_bos};
}

int generate_command(const Common& common, const GenerateOptions& options) {
  if (options.num_samples < 1) fail<ConfigError>("--num_samples is {}; it must be 1 or more", options.num_samples);
  if (!options.prompt && options.prompt_file.empty() && !options.interactive) {
    fail<ConfigError>("generate: no prompt; give --prompt TEXT, --prompt_file FILE or --interactive");
  }
  validate(options.sampling.over({}));
  const LoadedExperiment loaded = load_valid(common);
  TextModel model(loaded.config, options.model.options(common, options.num_samples));
  SlotLoop loop(model.steps(), model.vocab_limit());
  SamplingOptions sampling = options.sampling.over(model.default_sampling());
  validate(sampling);
  nlohmann::json result;
  if (options.prompt || !options.prompt_file.empty()) {
    const std::string prompt = options.prompt ? *options.prompt : read_file(options.prompt_file);
    result = Generation(model, loop, options, sampling).run(prompt);
  }
  std::string line;
  while (options.interactive) {
    fmt::print(stderr, "> ");
    if (!read_line(line)) break;
    try {
      result = Generation(model, loop, options, sampling).run(line);
    } catch (const ConfigError& error) {
      fmt::print(stderr, "{}\n", error.what());
    }
    ++sampling.seed;
  }
  if (common.json) fmt::print("{}\n", result.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  return kDone;
}

}  // namespace pax::cli
