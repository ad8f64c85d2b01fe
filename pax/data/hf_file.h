#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "pax/data/added_tokens.h"
#include "pax/data/hf_decoder.h"
#include "pax/data/hf_normalizer.h"
#include "pax/data/hf_pretokenizer.h"
#include "pax/data/subword_model.h"
#include "pax/data/tokenizer.h"

namespace pax::data {

/// The parts of a tokenizer.json.
struct HfFile {
  std::unique_ptr<HfNormalizer> normalizer;  ///< may be nullptr, likewise the two below
  std::unique_ptr<HfPretokenizer> pretokenizer;
  std::unique_ptr<HfDecoder> decoder;
  SubwordModelFile model;
  bool raw_bytes = false;  ///< pieces are bytes for `model.byte_model`, not spelled characters
  std::vector<AddedToken> added;
  std::vector<int32_t> before, after;  ///< what the post-processor puts around one text
  SpecialIds special;
  std::string fingerprint;
};

/// Reads tokenizer.json, or vocab.json with merges.txt beside it, or the folder of either. Throws RuntimeError naming
/// the file and what is wrong or not supported.
HfFile read_hf_file(const std::filesystem::path& path);

}  // namespace pax::data
