#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "pax/data/bpe_merges.h"
#include "pax/data/pretokenizer.h"
#include "pax/data/tokenizer.h"

namespace pax::data {

/// A token that is taken from text as it stands, before anything else is looked at.
struct AddedToken {
  std::string content;
  int32_t id = 0;
  bool single_word = false, lstrip = false, rstrip = false;
};

/// What a byte-level BPE tokenizer's files say.
struct BpeFile {
  std::vector<std::string> tokens;               ///< as the file spells them; "" where an id has none
  std::vector<std::string> token_bytes;          ///< the bytes that each decodes to
  std::vector<bool> is_added, is_special;        ///< of each id
  std::unordered_map<std::string, int32_t> ids;  ///< of tokens as spelled
  std::vector<AddedToken> added;
  BpeMerges merges;
  std::vector<std::unique_ptr<Pretokenizer>> pretokenizers;  ///< each splits the words of the one before
  bool add_prefix_space = false;
  bool ignore_merges = false;  ///< a word that is a token is that token, whatever the merges say
  SpecialIds special;
  std::string fingerprint;
};

/// Reads tokenizer.json, or vocab.json with merges.txt beside it, or the folder of either. Throws RuntimeError naming
/// the file and what is wrong or not supported.
BpeFile read_bpe_file(const std::filesystem::path& path);

}  // namespace pax::data
