// input_compare [--json] [--without-grain] [--seqio PYTHON] [--mib N] [--seconds S] [--rounds N] [--records N]: tokens
// a second from record files to packed batches, against Grain (in its own virtual environment) and SeqIO (by an
// interpreter that has it) on the same files, by turns in one run, two threads each; and the time to open a file of
// many records.

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "pax/base/error.h"
#include "pax/base/files.h"
#include "pax/data/preprocessors.h"
#include "pax/data/record_file.h"
#include "pax/data/record_writer.h"
#include "pax/data/sentencepiece_tokenizer.h"
#include "pax/data/seqio_input.h"

namespace pax::data {
namespace {

constexpr const char* kPackages = "grain==0.2.18 array_record==0.8.6 sentencepiece==0.2.1";
constexpr int64_t kRow = 1024;

struct Options {
  bool json = false;
  bool grain = true;
  std::string seqio;  ///< interpreter
  int64_t mebibytes = 64;
  double seconds = 5;
  int64_t rounds = 3;
  int64_t records = 10'000'000;
};

double since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// The last line that `command` prints, as JSON.
nlohmann::json run_script(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(command.c_str(), "r"), ::pclose);
  std::string output;
  char buffer[4096];
  while (std::fgets(buffer, sizeof(buffer), pipe.get()) != nullptr) output = buffer;
  return nlohmann::json::parse(output);
}

nlohmann::json run_python(const std::string& arguments) {
  return run_script(fmt::format("{0}/tools/with_packages {1}/pax-python {2} -- {0}/benchmarks/input_compare.py {3}",
                                PAX_SOURCE_DIR, std::filesystem::temp_directory_path().string(), kPackages, arguments));
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

/// The records of docs.array_record as docs.tfrecord.
void copy_records(const std::filesystem::path& folder) {
  const auto from = open_array_record(folder / "docs.array_record");
  const auto to = write_tfrecord(folder / "docs.tfrecord");
  std::string scratch;
  for (int64_t i = 0; i < from->size(); ++i) to->add(from->at(i, scratch));
  to->close();
}

/// Seconds to open an ArrayRecord of so many records, one a chunk, and for a thousand reads at random.
void measure_opening(const std::filesystem::path& folder, int64_t records, nlohmann::json& row) {
  const std::filesystem::path path = folder / "many.array_record";
  const auto writer = write_array_record(path);
  for (int64_t i = 0; i < records; ++i) writer->add("12345678");
  writer->close();
  auto begin = std::chrono::steady_clock::now();
  const auto file = open_array_record(path);
  row["records"] = file->size();
  row["open_s"] = since(begin);
  begin = std::chrono::steady_clock::now();
  std::string scratch;
  for (int64_t i = 0; i < 1000; ++i) file->at(i * 7'919'993 % file->size(), scratch);
  row["read_1000_s"] = since(begin);
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

void run(const Options& options) {
  const TempDirectory temporary;
  const std::filesystem::path folder = temporary.path();
  run_python(fmt::format("make {} {}", folder.string(), options.mebibytes));
  copy_records(folder);
  nlohmann::json row{{"benchmark", "input_compare"}, {"mib", options.mebibytes}, {"threads", 2}};
  row["tokenizer_tokens_per_s"] = tokenizer_rate(folder, options.seconds);
  row["jsonl_tokens_per_s"] = packing_rate(packed(folder, "docs.jsonl"), options.seconds).tokens_per_s;
  std::vector<double> ours, over_grain, over_seqio;
  for (int64_t round = 0; round < options.rounds; ++round) {
    const Rate array_record = packing_rate(packed(folder, "docs.array_record"), options.seconds);
    ours.push_back(array_record.tokens_per_s);
    row["fill"] = array_record.fill;
    if (options.grain) {
      const nlohmann::json grain = run_python(fmt::format("grain {} {}", folder.string(), options.seconds));
      row["grain_tokens_per_s"] = grain["grain_tokens_per_s"];
      over_grain.push_back(array_record.tokens_per_s / grain["grain_tokens_per_s"].get<double>());
    }
    if (options.seqio.empty()) continue;
    const nlohmann::json seqio = run_script(fmt::format("{} {}/benchmarks/input_compare.py seqio {} {}", options.seqio,
                                                        PAX_SOURCE_DIR, folder.string(), options.seconds));
    const Rate tfrecord = packing_rate(packed(folder, "docs.tfrecord"), options.seconds);
    row["tfrecord_tokens_per_s"] = tfrecord.tokens_per_s;
    row["seqio_tokens_per_s"] = seqio["seqio_tokens_per_s"];
    over_seqio.push_back(tfrecord.tokens_per_s / seqio["seqio_tokens_per_s"].get<double>());
  }
  row["array_record_tokens_per_s"] = median(ours);
  if (!over_grain.empty()) row["speedup_over_grain"] = median(over_grain);
  if (!over_seqio.empty()) row["speedup_over_seqio"] = median(over_seqio);
  if (options.records > 0) measure_opening(folder, options.records, row);
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
    } else if (flag == "--seqio" && i + 1 < argc) {
      options.seqio = argv[++i];
    } else if (flag == "--rounds" && i + 1 < argc) {
      options.rounds = std::max<int64_t>(1, std::atoll(argv[++i]));
    } else if (flag == "--records" && i + 1 < argc) {
      options.records = std::atoll(argv[++i]);
    } else if (flag == "--mib" && i + 1 < argc) {
      options.mebibytes = std::atoll(argv[++i]);
    } else if (flag == "--seconds" && i + 1 < argc) {
      options.seconds = std::atof(argv[++i]);
    } else {
      fail<ConfigError>(
          "{}: not a flag; there are --json, --without-grain, --seqio PYTHON, --mib N, --seconds S, --rounds N, "
          "--records N",
          flag);
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
