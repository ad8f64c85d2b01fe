#include "tests/golden/tokenizer_cases.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "pax/base/files.h"
#include "pax/base/text.h"
#include "pax/data/hf_tokenizer.h"
#include "pax/data/sentencepiece_tokenizer.h"

namespace pax::data {
namespace {

using nlohmann::json;

std::unique_ptr<Tokenizer> open_tokenizer(const std::filesystem::path& model) {
  if (model.extension() == ".model") {
    SentencePieceTokenizer::Config config;
    config.path = model.string();
    return std::make_unique<SentencePieceTokenizer>(config);
  }
  HfTokenizer::Config config;
  config.path = model.string();
  return std::make_unique<HfTokenizer>(config);
}

template <class T>
std::string differs(const char* what, const T& got, const json& expected) {
  const json given = got;
  return given == expected ? "" : fmt::format("{} {} but {} is expected", what, given.dump(), expected.dump());
}

std::string check_case(const Tokenizer& tokenizer, const json& one) {
  std::string message;
  const auto compare = [&](const char* field, auto get) {
    if (message.empty() && one.contains(field)) message = differs(field, get(), one.at(field));
  };
  std::vector<int32_t> ids;
  if (one.contains("text")) {
    const auto text = one.at("text").get<std::string>();
    ids = tokenizer.encode(text);
    compare("ids", [&] { return ids; });
    compare("pieces", [&] { return tokenizer.encode_pieces(text); });
    compare("tokens", [&] { return tokenizer.encode_pieces(text); });
    if (const auto* hf = dynamic_cast<const HfTokenizer*>(&tokenizer)) {
      compare("templated", [&] { return hf->encode_with_template(text); });
    }
    compare("normalized", [&] { return tokenizer.normalize(text); });
  } else {
    ids = one.at("ids").get<std::vector<int32_t>>();
  }
  const bool has_specials = one.contains("decoded_skip_special");
  compare("decoded", [&] {
    return has_specials || dynamic_cast<const HfTokenizer*>(&tokenizer) != nullptr
               ? tokenizer.decode_with_specials(ids)
               : tokenizer.decode(ids);
  });
  compare("decoded_skip_special", [&] { return tokenizer.decode(ids); });
  return message;
}

std::string check_special(const Tokenizer& tokenizer, const json& expected) {
  const SpecialIds special = tokenizer.special_ids();
  std::string message;
  const auto compare = [&](const char* field, const std::optional<int32_t>& id) {
    if (message.empty() && expected.contains(field)) message = differs(field, id.value_or(-1), expected.at(field));
  };
  compare("unk_id", special.unk);
  compare("bos_id", special.bos);
  compare("eos_id", special.eos);
  compare("pad_id", special.pad);
  compare("vocab_size", tokenizer.vocab_size());
  return message;
}

std::string check_all(const std::filesystem::path& path) {
  const json expected = json::parse(read_file(path));
  const std::filesystem::path model = path.parent_path() / expected.at("model").get<std::string>();
  const std::unique_ptr<Tokenizer> tokenizer = open_tokenizer(model);
  if (std::string message = check_special(*tokenizer, expected); !message.empty()) return message;
  for (const char* list : {"cases", "decode_cases"}) {
    size_t number = 0;
    for (const json& one : expected.value(list, json::array())) {
      const std::string message = check_case(*tokenizer, one);
      if (!message.empty()) return fmt::format("{} {}: {}", list, number, message);
      ++number;
    }
  }
  return "";
}

}  // namespace

std::vector<GoldenResult> check_golden_tokenizer(const std::filesystem::path& expected_json) {
  GoldenResult result{.name = fmt::format("tokenizer/{}", expected_json.filename().string())};
  try {
    result.message = check_all(expected_json);
  } catch (const std::exception& error) {
    result.message = error.what();
  }
  result.ok = result.message.empty();
  return {result};
}

}  // namespace pax::data
