#pragma once

#include "tests/golden/kinds.h"

namespace pax::golden {

/// A Hugging Face folder: import (both spellings of the config), logits, hidden states, losses, gradients, greedy
/// tokens, and export bit for bit. One result for each of them.
std::vector<CaseResult> run_hf_folder(const CaseFile& file, const Context& context);

}  // namespace pax::golden
