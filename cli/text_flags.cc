#include <CLI/CLI.hpp>
#include <memory>

#include "cli/eval_commands.h"
#include "cli/invocation.h"
#include "cli/text_commands.h"

namespace pax::cli {
namespace {

template <class T>
CLI::Option* add(CLI::App* app, const char* name, std::optional<T>& value, const char* doc) {
  return app->add_option(name, value, doc);
}

void add_model_flags(CLI::App* app, Invocation& invocation, ModelFlags& flags) {
  add_experiment_flags(app, invocation);
  app->add_option("--job_log_dir", invocation.common.job_log_dir, "The run's directory")->required();
  add(app, "--step", flags.step, "Checkpoint of this step instead of the newest");
  app->add_option("--seqlen", flags.seqlen, "Tokens of a text, prompt included");
  app->add_flag("--ema", flags.ema, "The moving average of the weights");
  add(app, "--add_bos", flags.add_bos, "Begin prompts with the tokenizer's beginning token, or do not");
}

void add_sampling_flags(CLI::App* app, SamplingFlags& flags) {
  add(app, "--temperature", flags.temperature, "Noise of the draw; 0: the likeliest token");
  add(app, "--k", flags.k, "Draw among the likeliest k; 0: all");
  add(app, "--p", flags.p, "Draw among the likeliest that together reach p; 0: the likeliest token");
  add(app, "--min_p", flags.min_p, "Only tokens at least min_p times as likely as the likeliest");
  add(app, "--epsilon_p", flags.epsilon_p, "Only tokens at least this likely");
  add(app, "--seed", flags.seed, "The same seed writes the same text");
  add(app, "--max_decode_steps", flags.max_decode_steps, "Tokens that are written at most");
  add(app, "--min_decode_steps", flags.min_decode_steps, "Tokens before the text may end");
  add(app, "--logprobs", flags.logprobs, "Log-probabilities, of so many alternatives too (with --json)");
  app->add_option("--eos_id", flags.eos_id, "Tokens that end a text")->delimiter(',');
  app->add_option("--stop", flags.stop, "Text that ends it; may be given several times")->take_all()->expected(1);
}

void add_generate(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<GenerateOptions>();
  CLI::App* generate = app.add_subcommand("generate", "Write on from a prompt with a trained model");
  add_model_flags(generate, invocation, options->model);
  add_sampling_flags(generate, options->sampling);
  add(generate, "--prompt", options->prompt, "What to write on from");
  generate->add_option("--prompt_file", options->prompt_file, "A file that holds the prompt");
  generate->add_flag("--interactive", options->interactive, "Take prompts from standard input, one a line");
  generate->add_flag("--echo", options->echo, "Print the prompt, too");
  generate->add_option("--num_samples", options->num_samples, "Texts for the prompt, side by side");
  generate->callback([&invocation, options] {
    invocation.command = [&invocation, options] { return generate_command(invocation.common, *options); };
  });
}

void add_serve(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<ServeOptions>();
  ServerOptions& server = options->server;
  CLI::App* serve = app.add_subcommand("serve", "Serve a trained model over HTTP, as OpenAI's completions");
  add_model_flags(serve, invocation, options->model);
  serve->add_option("--host", server.host, "Address to listen on")->capture_default_str();
  serve->add_option("--port", server.port, "0: any free one")->capture_default_str()->check(CLI::Range(0, 65535));
  serve->add_option("--name", options->name, "Of the model in answers");
  serve->add_option("--slots", options->slots, "Texts written side by side")->check(CLI::Range(1, 4096));
  serve->add_option("--max_tokens", server.limits.max_tokens, "Of one text")->check(CLI::PositiveNumber);
  serve->add_option("--max_body_bytes", server.max_body_bytes, "Of one request")->check(CLI::PositiveNumber);
  serve->add_option("--max_waiting", server.max_waiting, "Texts in the queue")->check(CLI::PositiveNumber);
  serve->add_option("--max_connections", server.max_connections, "Answered at a time")->check(CLI::Range(1, 65536));
  serve->add_option("--request_seconds", server.request_seconds, "Then a text ends")->check(CLI::PositiveNumber);
  serve->add_option("--grace_seconds", server.grace_seconds, "For texts under way at a stop");
  serve->callback([&invocation, options] {
    invocation.command = [&invocation, options] { return serve_command(invocation.common, *options); };
  });
}

void add_export(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<ExportCommandOptions>();
  CLI::App* exporting = export_verb(app);
  CLI::App* stablehlo = exporting->add_subcommand("stablehlo", "One step of writing, as StableHLO with its weights");
  add_model_flags(stablehlo, invocation, options->model);
  stablehlo->add_option("--out", options->out, "Folder to write into")->required();
  stablehlo->add_option("--rows", options->rows, "Texts written side by side")->check(CLI::Range(1, 4096));
  stablehlo->callback([&invocation, options] {
    invocation.command = [&invocation, options] { return export_stablehlo_command(invocation.common, *options); };
  });
}

void add_score(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<ScoreOptions>();
  CLI::App* score = app.add_subcommand("score", "Choose answers by their likelihood");
  add_model_flags(score, invocation, options->model);
  score->add_option("file", options->file, R"(Lines of {"query": …, "choices": […], "gold": 0})")->required();
  score->add_option("--rows", options->rows, "Choices read side by side")->check(CLI::Range(1, 4096));
  score->callback([&invocation, options] {
    invocation.command = [&invocation, options] { return score_command(invocation.common, *options); };
  });
}

void add_checkpoint_flags(CLI::App* app, Invocation& invocation, CheckpointFlags& flags) {
  add_experiment_flags(app, invocation);
  app->add_option("--job_log_dir", invocation.common.job_log_dir, "The run's directory")->required();
  add(app, "--step", flags.follow.step, "Of this step instead of the newest");
  app->add_flag("--continuous", flags.follow.follow, "Then every newer checkpoint as it appears, to the last step");
  app->add_option("--wait", flags.follow.wait_seconds, "With --continuous: seconds without a new one to give up after");
  app->add_flag("--ema", flags.ema, "The moving average of the weights");
  app->add_flag("--redo", flags.redo, "Also what was done before");
}

void add_eval(CLI::App& app, Invocation& invocation) {
  auto flags = std::make_shared<CheckpointFlags>();
  CLI::App* eval = app.add_subcommand("eval", "Evaluate a run's newest checkpoint on its eval inputs");
  add_checkpoint_flags(eval, invocation, *flags);
  eval->callback([&invocation, flags] {
    invocation.command = [&invocation, flags] { return eval_command(invocation.common, *flags); };
  });
}

void add_decode(CLI::App& app, Invocation& invocation) {
  auto flags = std::make_shared<DecodeFlags>();
  CLI::App* decode = app.add_subcommand("decode", "Decode a run's eval inputs with its model's decoder");
  add_checkpoint_flags(decode, invocation, *flags);
  decode->add_option("--prompt_tokens", flags->prompt_tokens, "The first tokens of each row are its prompt");
  decode->add_option("--max_batches", flags->max_batches, "Of each data set, at most");
  decode->callback([&invocation, flags] {
    invocation.command = [&invocation, flags] { return decode_command(invocation.common, *flags); };
  });
}

}  // namespace

CLI::App* export_verb(CLI::App& app) {
  const auto known = app.get_subcommands([](const CLI::App* verb) { return verb->get_name() == "export"; });
  if (!known.empty()) return known[0];
  return app.add_subcommand("export", "Write a run's model for another program")->require_subcommand(1);
}

void add_text_commands(CLI::App& app, Invocation& invocation) {
  add_eval(app, invocation);
  add_decode(app, invocation);
  add_generate(app, invocation);
  add_serve(app, invocation);
  add_score(app, invocation);
  add_export(app, invocation);
}

}  // namespace pax::cli
