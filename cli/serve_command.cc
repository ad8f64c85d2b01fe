#include <fmt/core.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/text_commands.h"
#include "pax/serving/export.h"
#include "pax/serving/score.h"
#include "pax/trainer/stop_signal.h"

namespace pax::cli {

int serve_command(const Common& common, const ServeOptions& options) {
  const LoadedExperiment loaded = load_valid(common);
  TextModel model(loaded.config, options.model.options(common, options.slots));
  for (int64_t tokens = 1; tokens < model.steps().length(); tokens *= 2) model.steps().prepare(tokens);
  ServerOptions server_options = options.server;
  if (options.name.empty()) server_options.model_name = loaded.name;
  if (!options.name.empty()) server_options.model_name = options.name;
  const StopSignal stop;
  HttpServer server(model, server_options);
  fmt::print("serving {} (checkpoint {}) at http://{}:{}, {} slots of {} tokens\n", server_options.model_name,
             model.checkpoint_step(), server_options.host, server.port(), options.slots, model.steps().length());
  std::fflush(stdout);
  server.run([&] { return stop.requested(); });
  fmt::print("stopped\n");
  return kDone;
}

int export_stablehlo_command(const Common& common, const ExportCommandOptions& options) {
  const LoadedExperiment loaded = load_valid(common);
  const TextModelOptions model = options.model.options(common, options.rows);
  const int64_t length = text_length(loaded.config, model.seqlen);
  const int64_t step = export_stablehlo(loaded.config, {.job_log_dir = common.job_log_dir,
                                                        .out = options.out,
                                                        .step = model.step,
                                                        .weights = model.weights,
                                                        .rows = options.rows,
                                                        .length = length});
  fmt::print("checkpoint {} exported to {}\n", step, options.out);
  if (common.json) {
    const nlohmann::json json{{"exp", loaded.name}, {"step", step}, {"out", options.out}, {"length", length}};
    fmt::print("{}\n", json.dump());
  }
  return kDone;
}

int score_command(const Common& common, const ScoreOptions& options) {
  const std::vector<ChoiceQuestion> questions = read_questions(options.file);
  const LoadedExperiment loaded = load_valid(common);
  TextModel model(loaded.config, options.model.options(common, options.rows));
  const std::vector<ChoiceScores> scores = score_choices(model, questions);
  int64_t known = 0, right = 0, right_normalized = 0;
  nlohmann::json rows = nlohmann::json::array();
  for (size_t i = 0; i < scores.size(); ++i) {
    const ChoiceQuestion& question = questions[i];
    rows.push_back({{"log_likelihoods", scores[i].log_likelihoods},
                    {"tokens", scores[i].tokens},
                    {"best", scores[i].best},
                    {"best_normalized", scores[i].best_normalized}});
    if (question.gold < 0) continue;
    rows.back()["gold"] = question.gold;
    ++known;
    right += scores[i].best == question.gold ? 1 : 0;
    right_normalized += scores[i].best_normalized == question.gold ? 1 : 0;
  }
  if (!common.json) {
    for (const nlohmann::json& row : rows) fmt::print("{}\n", row.dump());
  }
  const auto share = [&](int64_t count) {
    return known == 0 ? 0.0 : static_cast<double>(count) / static_cast<double>(known);
  };
  if (known > 0) {
    fmt::print("acc {:.4f}, acc_norm {:.4f} of {} questions\n", share(right), share(right_normalized), known);
  }
  if (common.json) {
    nlohmann::json json{{"exp", loaded.name}, {"step", model.checkpoint_step()}, {"questions", rows}};
    if (known > 0) json["acc"] = share(right), json["acc_norm"] = share(right_normalized);
    fmt::print("{}\n", json.dump());
  }
  return kDone;
}

}  // namespace pax::cli
