#pragma once

#include <memory>
#include <string>

#include "pax/data/tokenizer.h"

namespace pax::data {

/// The tokenizer that a word or path names: "bytes", a SentencePiece `.model`, a Hugging Face `tokenizer.json`,
/// `vocab.json` with `merges.txt` beside it, or a folder that holds one of them. Throws RuntimeError naming what was
/// looked for.
std::shared_ptr<const Tokenizer> open_tokenizer(const std::string& name);

}  // namespace pax::data
