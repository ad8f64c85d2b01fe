// input_compare [--json] [--without-grain] [--mib N] [--seconds S]: tokens a second from record files to packed
// batches, against Grain on the same files in the same run (own virtual environment).

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "pax/base/error.h"
#include "pax/base/files.h"
#include "pax/data/preprocessors.h"
#include "pax/data/record_file.h"
#include "pax/data/sentencepiece_tokenizer.h"
#include "pax/data/seqio_input.h"

namespace pax::data {
namespace {

constexpr const char* kPackages = "grain==0.2.18 array_record==0.8.6 sentencepiece==0.2.1";
constexpr int64_t kRow = 1024;

struct Options {
  bool json = false;
  bool grain = true;
  int64_t mebibytes = 64;
  double seconds = 10;
};

double since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

nlohmann::json run_python(const std::string& arguments) {
  const std::string command =
      fmt::format("{0}/tools/with_packages {1}/pax-python {2} -- {0}/benchmarks/input_compare.py {3}", PAX_SOURCE_DIR,
                  std::filesystem::temp_directory_path().string(), kPackages, arguments);
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(command.c_str(), "r"), ::pclose);
  std::string output;
  char buffer[4096];
  while (std::fgets(buffer, sizeof(buffer), pipe.get()) != nullptr) output = buffer;
  return nlohmann::json::parse(output);
}

SentencePieceTokenizer::Config tokenizer(const std::filesystem::path& folder) {
  SentencePieceTokenizer::Config config;
  config.path = (folder / "spm.model").string();
  return config;
}

/// Rows of documents, first-fit, from one file.
SeqIOInput::Config packed(const std::filesystem::path& folder, const std::string& file) {
  FileSource::Config source;
  source.file_pattern = (folder / file).string();
  Rekey::Config rekey;
  rekey.key_map = {{"targets", "text"}};
  Tokenize::Config tokenize;
  tokenize.copy_pretokenized = false;
  OutputFeature targets;
  targets.vocabulary = tokenizer(folder);
  Task::Config task;
  task.name = "documents";
  task.splits = {{"train", source}};
  task.preprocessors = {rekey, tokenize};
  task.output_features = {{"targets", targets}};
  LanguageModelFeatures::Config features;
  features.pack = true;
  SeqIOInput::Config config;
  config.name = "packed";
  config.mixture_or_task = task;
  config.split_name = "train";
  config.task_feature_lengths = {{"targets", kRow}};
  config.feature_converter = features;
  config.packing = Packing::kFirstFit;
  config.batch_size = 8;
  config.is_training = true;
  config.num_workers = 1;  // and the caller's thread: two in all
  return config;
}

struct Rate {
  double tokens_per_s;
  double fill;
};

Rate packing_rate(const SeqIOInput::Config& config, double seconds) {
  SeqIOInput input(config);
  for (int i = 0; i < 10; ++i) input.next();
  TokenCount total;
  const auto begin = std::chrono::steady_clock::now();
  while (since(begin) < seconds) {
    const TokenCount count = count_tokens(*input.next());
    total.tokens += count.tokens;
    total.slots += count.slots;
  }
  return {static_cast<double>(total.tokens) / since(begin),
          static_cast<double>(total.tokens) / static_cast<double>(total.slots)};
}

/// The tokenizer alone, one thread.
double tokenizer_rate(const std::filesystem::path& folder, double seconds) {
  const SentencePieceTokenizer words(tokenizer(folder));
  const auto file = open_examples(folder / "docs.jsonl", RecordFormat::kJsonl);
  std::vector<std::string> texts;
  for (int64_t i = 0; i < std::min<int64_t>(file->size(), 2000); ++i) texts.push_back(file->at(i).text("text"));
  int64_t tokens = 0;
  std::vector<int32_t> ids;
  const auto begin = std::chrono::steady_clock::now();
  for (size_t i = 0; since(begin) < seconds; i = (i + 1) % texts.size()) {
    ids.clear();
    words.encode(texts[i], ids);
    tokens += static_cast<int64_t>(ids.size());
  }
  return static_cast<double>(tokens) / since(begin);
}

void run(const Options& options) {
  const TempDirectory temporary;
  const std::filesystem::path folder = temporary.path();
  run_python(fmt::format("make {} {}", folder.string(), options.mebibytes));
  nlohmann::json row{{"benchmark", "input_compare"}, {"mib", options.mebibytes}, {"threads", 2}};
  row["tokenizer_tokens_per_s"] = tokenizer_rate(folder, options.seconds);
  const Rate json_lines = packing_rate(packed(folder, "docs.jsonl"), options.seconds);
  const Rate array_record = packing_rate(packed(folder, "docs.array_record"), options.seconds);
  row["jsonl_tokens_per_s"] = json_lines.tokens_per_s;
  row["array_record_tokens_per_s"] = array_record.tokens_per_s;
  row["fill"] = array_record.fill;
  const auto begin = std::chrono::steady_clock::now();
  row["array_record_records"] = open_array_record(folder / "docs.array_record")->size();
  row["array_record_open_s"] = since(begin);
  if (options.grain) {
    const nlohmann::json grain = run_python(fmt::format("grain {} {}", folder.string(), options.seconds));
    row["grain_tokens_per_s"] = grain["grain_tokens_per_s"];
    row["speedup_over_grain"] = array_record.tokens_per_s / grain["grain_tokens_per_s"].get<double>();
  }
  if (options.json) {
    std::printf("%s\n", row.dump().c_str());
  } else {
    for (const auto& [name, value] : row.items()) std::printf("%-28s %s\n", name.c_str(), value.dump().c_str());
  }
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    if (flag == "--json") {
      options.json = true;
    } else if (flag == "--without-grain") {
      options.grain = false;
    } else if (flag == "--mib" && i + 1 < argc) {
      options.mebibytes = std::atoll(argv[++i]);
    } else if (flag == "--seconds" && i + 1 < argc) {
      options.seconds = std::atof(argv[++i]);
    } else {
      fail<ConfigError>("{}: not a flag; there are --json, --without-grain, --mib N, --seconds S", flag);
    }
  }
  return options;
}

}  // namespace
}  // namespace pax::data

int main(int argc, char** argv) try {
  pax::data::run(pax::data::parse(argc, argv));
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
