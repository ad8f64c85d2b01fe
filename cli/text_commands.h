#pragma once

#include "cli/commands.h"
#include "pax/serving/http_server.h"

namespace pax::cli {

/// The options of writing that the command line gave; the others keep the experiment's values.
struct SamplingFlags {
  std::optional<double> temperature, p, min_p, epsilon_p;
  std::optional<int64_t> k, max_decode_steps, min_decode_steps, logprobs;
  std::optional<uint64_t> seed;
  std::vector<int32_t> eos_id;
  std::vector<std::string> stop;

  SamplingOptions over(SamplingOptions options) const;
};

/// Which checkpoint is loaded, and how.
struct ModelFlags {
  std::optional<int64_t> step;
  int64_t seqlen = 0;
  bool ema = false;
  std::optional<bool> add_bos;

  TextModelOptions options(const Common& common, int64_t rows) const;
};

struct GenerateOptions {
  ModelFlags model;
  SamplingFlags sampling;
  std::optional<std::string> prompt;
  std::string prompt_file;
  bool interactive = false;
  bool echo = false;
  int64_t num_samples = 1;
};
int generate_command(const Common& common, const GenerateOptions& options);

struct ServeOptions {
  ModelFlags model;
  ServerOptions server;
  std::string name;  ///< of the model in answers; empty: the experiment's
  int64_t slots = 8;
};
int serve_command(const Common& common, const ServeOptions& options);

struct ExportCommandOptions {
  ModelFlags model;
  std::string out;
  int64_t rows = 1;
};
int export_stablehlo_command(const Common& common, const ExportCommandOptions& options);

struct ScoreOptions {
  ModelFlags model;
  std::string file;
  int64_t rows = 8;
};
int score_command(const Common& common, const ScoreOptions& options);

}  // namespace pax::cli
