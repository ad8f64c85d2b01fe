#include <fmt/core.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <bit>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "cli/invocation.h"
#include "pax/base/error.h"
#include "pax/base/files.h"
#include "pax/base/text.h"
#include "pax/data/inspect.h"
#include "pax/data/open_tokenizer.h"
#include "pax/data/token_rows.h"
#include "pax/data/tokenize_source.h"
#include "pax/trainer/inputs.h"

namespace pax::cli {
namespace {

using Clock = std::chrono::steady_clock;

struct BatchFlags {
  std::filesystem::path html;
  int64_t batches = 1;
  bool eval = false;
};

struct SourceFlags {
  std::string files;
  std::string field = "text";
  std::string tokenizer;
  std::optional<std::string> format;
  int64_t limit = 100'000;
  int64_t examples = 2;
};

struct TokenizeFlags {
  SourceFlags source;
  std::filesystem::path out;
  data::TokenizeOptions options;
  std::optional<std::string> format, width;
};

/// The value of an enum that a flag names. Throws ConfigError with the values there are.
template <class Enum>
std::optional<Enum> named(const std::optional<std::string>& word, const char* flag) {
  if (!word) return std::nullopt;
  std::vector<std::string> names;
  for (const auto& [value, name] : enum_names(Enum{})) {
    if (name == *word) return value;
    names.emplace_back(name);
  }
  fail<ConfigError>("{}: \"{}\" is none of {}", flag, *word, join(names, ", "));
}

data::FileSource open_source(const SourceFlags& flags) {
  data::FileSource::Config config;
  config.file_pattern = flags.files;
  config.format = named<data::RecordFormat>(flags.format, "--records");
  return data::FileSource(config);
}

std::vector<std::shared_ptr<data::Input>> open_inputs(const Common& common, const BatchFlags& flags) {
  const LoadedExperiment loaded = load_valid(common);
  if (!flags.eval) return {build_train_input(loaded.config)};
  auto inputs = build_eval_inputs(loaded.config);
  if (inputs.empty()) fail<ConfigError>("{}: has no input to evaluate on", loaded.name);
  return inputs;
}

/// Shows the first batches of an input; the sections of its page are returned.
std::string preview(data::Input& input, const BatchFlags& flags) {
  const bool page = !flags.html.empty();
  const data::Style style = page                           ? data::Style::kHtml
                            : ::isatty(STDOUT_FILENO) != 0 ? data::Style::kColour
                                                           : data::Style::kPlain;
  std::string sections;
  for (int64_t i = 0; i < flags.batches; ++i) {
    const std::optional<HostTree> batch = input.next();
    if (!batch) {
      fmt::print("input \"{}\": the data ends after {} batches\n", input.name(), i);
      break;
    }
    const std::string name = fmt::format("input \"{}\", batch {}", input.name(), i);
    const std::string shown = data::show_batch(*batch, input.tokenizer(), style);
    if (page) {
      sections += fmt::format("<h2>{}</h2>\n{}", data::escape_html(name), shown);
    } else {
      fmt::print("{}\n{}", name, shown);
    }
  }
  return sections;
}

int preview_command(const Common& common, const BatchFlags& flags) {
  std::string sections;
  for (const auto& input : open_inputs(common, flags)) sections += preview(*input, flags);
  if (flags.html.empty()) return kDone;
  const std::string title = common.experiment.name.empty() ? common.experiment.file.string() : common.experiment.name;
  write_file_atomically(flags.html, data::html_page("Batches of " + title, sections));
  fmt::print("{}: written\n", flags.html.string());
  return kDone;
}

/// What is counted over the batches of one input.
struct BatchStats {
  int64_t batches = 0, rows = 0;
  data::TokenCount count;
  std::map<int64_t, int64_t> lengths;  ///< segments by tokens, rounded up to a power of two
  std::set<int32_t> ids;
  double seconds = 0;

  void add(const HostTree& batch) {
    ++batches;
    for (const data::TokenRows& branch : data::token_rows(batch)) {
      for (size_t r = 0; r < branch.count(); ++r) add(branch.row(r));
    }
  }
  void add(const data::TokenRow& row) {
    ++rows;
    count.slots += static_cast<int64_t>(row.ids.size());
    int64_t length = 0;
    for (size_t at = 0; at < row.ids.size(); ++at) {
      const int32_t segment = row.segment(at);
      const bool is_real = segment != 0;
      count.tokens += is_real ? 1 : 0;
      count.weight += row.weight(at);
      if (is_real) ids.insert(row.ids[at]);
      length = is_real ? length + 1 : 0;
      if (!is_real || (at + 1 < row.ids.size() && row.segment(at + 1) == segment)) continue;
      ++count.segments;
      ++lengths[static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(length)))];
      length = 0;
    }
  }
  double fill() const {
    return count.slots == 0 ? 0 : static_cast<double>(count.tokens) / static_cast<double>(count.slots);
  }
};

nlohmann::json to_json(const BatchStats& stats, const data::Input& input) {
  nlohmann::json lengths = nlohmann::json::object();
  for (const auto& [length, segments] : stats.lengths) lengths[std::to_string(length)] = segments;
  nlohmann::json json{{"input", input.name()},
                      {"batches", stats.batches},
                      {"rows", stats.rows},
                      {"slots", stats.count.slots},
                      {"tokens", stats.count.tokens},
                      {"fill", stats.fill()},
                      {"weight", stats.count.weight},
                      {"segments", stats.count.segments},
                      {"distinct", stats.ids.size()},
                      {"lengths", lengths},
                      {"tokens_per_s", static_cast<double>(stats.count.tokens) / stats.seconds}};
  if (input.tokenizer() != nullptr) json["vocab_size"] = input.tokenizer()->vocab_size();
  return json;
}

void print(const BatchStats& stats, const data::Input& input) {
  fmt::print("input \"{}\": {} batches, {} rows\n", input.name(), stats.batches, with_commas(stats.rows));
  fmt::print("  {} tokens in {} slots: {:.1f} % real; weight {:.0f}; {:.0f} tokens/s\n",
             with_commas(stats.count.tokens), with_commas(stats.count.slots), 100 * stats.fill(), stats.count.weight,
             static_cast<double>(stats.count.tokens) / stats.seconds);
  const std::string of = input.tokenizer() == nullptr ? "" : " of " + with_commas(input.tokenizer()->vocab_size());
  fmt::print("  {}{} ids occur\n", with_commas(static_cast<int64_t>(stats.ids.size())), of);
  fmt::print("  {} segments\n{}", with_commas(stats.count.segments), data::length_bars(stats.lengths, "segments"));
}

int batch_stats_command(const Common& common, const BatchFlags& flags) {
  nlohmann::json all = nlohmann::json::array();
  for (const auto& input : open_inputs(common, flags)) {
    BatchStats stats;
    const Clock::time_point begin = Clock::now();
    while (stats.batches < flags.batches) {
      const std::optional<HostTree> batch = input->next();
      if (!batch) break;
      stats.add(*batch);
    }
    stats.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    all.push_back(to_json(stats, *input));
    if (!common.json) print(stats, *input);
  }
  if (common.json) fmt::print("{}\n", all.dump());
  return kDone;
}

int stats_command(const Common& common, const BatchFlags& batches, const SourceFlags& flags) {
  if (flags.files.empty()) return batch_stats_command(common, batches);
  const auto tokenizer = data::open_tokenizer(flags.tokenizer.empty() ? "bytes" : flags.tokenizer);
  const data::TokenReport report = data::count_source_tokens(open_source(flags), flags.field, *tokenizer, flags.limit);
  fmt::print("{}", common.json ? data::to_json(report) + "\n" : data::to_text(report));
  return kDone;
}

int inspect_command(const Common& common, const SourceFlags& flags) {
  const data::SourceReport report = data::inspect_source(open_source(flags), flags.limit, flags.examples);
  fmt::print("{}", common.json ? data::to_json(report) + "\n" : data::to_text(report));
  return report.damaged.empty() ? kDone : kFailed;
}

/// Prints how far tokenising is: over one line on a terminal, else every ten seconds.
class ProgressLine {
 public:
  void operator()(const data::TokenizeProgress& progress) {
    const bool terminal = ::isatty(STDERR_FILENO) != 0;
    const double pause = terminal ? 0.2 : 10.0;
    const bool last = progress.records == progress.total_records;
    if (since(shown_) < pause && !(last && terminal)) return;
    shown_ = Clock::now();
    fmt::print(stderr, "{}{} of {} records, {} tokens, {:.1f} M tokens/s{}", terminal ? "\r" : "",
               with_commas(progress.records), with_commas(progress.total_records), with_commas(progress.tokens),
               static_cast<double>(progress.tokens) / since(begin_) / 1e6, terminal && !last ? "" : "\n");
  }
  double seconds() const { return since(begin_); }

 private:
  static double since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }
  Clock::time_point begin_ = Clock::now(), shown_ = begin_;
};

int tokenize_command(const Common& common, TokenizeFlags flags) {
  flags.options.field = flags.source.field;
  flags.options.format = named<data::TokenFormat>(flags.format, "--format");
  flags.options.width = named<data::IdWidth>(flags.width, "--width");
  if (flags.options.num_threads < 1) {
    flags.options.num_threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  }
  const auto tokenizer = data::open_tokenizer(flags.source.tokenizer);
  ProgressLine line;
  const data::TokenizeProgress done =
      data::tokenize_source(open_source(flags.source), *tokenizer, flags.out, flags.options, std::ref(line));
  const double bytes_per_token =
      static_cast<double>(done.bytes) / static_cast<double>(std::max<int64_t>(done.tokens, 1));
  if (common.json) {
    fmt::print("{}\n", nlohmann::json{{"out", flags.out.string()},
                                      {"records", done.records},
                                      {"bytes", done.bytes},
                                      {"tokens", done.tokens},
                                      {"seconds", line.seconds()},
                                      {"tokenizer", tokenizer->fingerprint()}}
                           .dump());
  } else {
    fmt::print("{}: {} records, {} tokens ({:.2f} bytes a token), in {:.1f} s\n", flags.out.string(),
               with_commas(done.records), with_commas(done.tokens), bytes_per_token, line.seconds());
  }
  return kDone;
}

void add_batch_flags(CLI::App* app, BatchFlags& flags) {
  app->add_option("--batches", flags.batches, "Batches that are looked at")->check(CLI::PositiveNumber);
  app->add_flag("--eval", flags.eval, "The inputs to evaluate on, not the one to train on");
}

void add_source_flags(CLI::App* app, SourceFlags& flags) {
  app->add_option("--records", flags.format,
                  "text, whole_text, jsonl, tfrecord, array_record or parquet; else by the name");
  app->add_option("--limit", flags.limit, "Records that are looked at, spread over all")->check(CLI::PositiveNumber);
}

void add_preview(CLI::App* data, Invocation& invocation) {
  CLI::App* preview = data->add_subcommand("preview", "Batches as the model gets them, decoded");
  add_experiment_flags(preview, invocation);
  const auto flags = std::make_shared<BatchFlags>();
  add_batch_flags(preview, *flags);
  preview->add_option("--html", flags->html, "Write one page that needs no other file");
  preview->callback([&invocation, flags] {
    invocation.command = [&invocation, flags] { return preview_command(invocation.common, *flags); };
  });
}

void add_inspect(CLI::App* data, Invocation& invocation) {
  CLI::App* inspect = data->add_subcommand("inspect", "Records of files: fields, sizes, damage, the first few");
  const auto flags = std::make_shared<SourceFlags>();
  inspect->add_option("files", flags->files, "A path, a glob, name@10, or several by commas")->required();
  add_source_flags(inspect, *flags);
  inspect->add_option("--examples", flags->examples, "Records that are printed")->check(CLI::NonNegativeNumber);
  inspect->add_flag("--json", invocation.common.json, "One JSON value on the last line of standard output");
  inspect->callback([&invocation, flags] {
    invocation.command = [&invocation, flags] { return inspect_command(invocation.common, *flags); };
  });
}

void add_stats(CLI::App* data, Invocation& invocation) {
  CLI::App* stats = data->add_subcommand("stats", "Lengths, fill rate and use of the vocabulary");
  add_experiment_flags(stats, invocation);
  const auto batches = std::make_shared<BatchFlags>(BatchFlags{.batches = 100});
  const auto flags = std::make_shared<SourceFlags>();
  add_batch_flags(stats, *batches);
  stats->add_option("files", flags->files, "Count these files instead of an experiment's batches");
  stats->add_option("--tokenizer", flags->tokenizer, "bytes, a .model, a tokenizer.json or a folder: for files");
  stats->add_option("--field", flags->field, "The records' text: for files");
  add_source_flags(stats, *flags);
  stats->callback([&invocation, batches, flags] {
    invocation.command = [&invocation, batches, flags] { return stats_command(invocation.common, *batches, *flags); };
  });
}

void add_tokenize(CLI::App* data, Invocation& invocation) {
  CLI::App* tokenize = data->add_subcommand("tokenize", "Text of any source to ids in a file");
  const auto flags = std::make_shared<TokenizeFlags>();
  flags->options.num_threads = 0;
  tokenize->add_option("files", flags->source.files, "A path, a glob, name@10, or several by commas")->required();
  tokenize->add_option("--tokenizer", flags->source.tokenizer, "bytes, a .model, a tokenizer.json or a folder")
      ->required();
  tokenize->add_option("--out", flags->out, "Written here: .bin, .tfrecord or .array_record")->required();
  tokenize->add_option("--field", flags->source.field, "The records' text");
  tokenize->add_option("--records", flags->source.format,
                       "text, whole_text, jsonl, tfrecord, array_record or parquet; else by the name");
  tokenize->add_option("--format", flags->format, "bin, tfrecord or array_record; else by the name");
  tokenize->add_option("--width", flags->width, "uint16 or int32 for .bin; else by the vocabulary");
  tokenize->add_option("--id_field", flags->options.id_field, "Field of the ids in records");
  tokenize->add_flag("--add_bos", flags->options.add_bos, "Begin each document with bos");
  tokenize->add_flag("--add_eos", flags->options.add_eos, "End each document with eos");
  tokenize->add_option("--threads", flags->options.num_threads, "0: one for each core");
  tokenize->add_flag("--json", invocation.common.json, "One JSON value on the last line of standard output");
  tokenize->callback([&invocation, flags] {
    invocation.command = [&invocation, flags] { return tokenize_command(invocation.common, *flags); };
  });
}

}  // namespace

void add_data_commands(CLI::App& app, Invocation& invocation) {
  CLI::App* data = app.add_subcommand("data", "Look at data, and tokenise it")->require_subcommand(1);
  add_preview(data, invocation);
  add_inspect(data, invocation);
  add_stats(data, invocation);
  add_tokenize(data, invocation);
}

}  // namespace pax::cli
