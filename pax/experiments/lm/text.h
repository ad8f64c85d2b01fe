#pragma once

#include "pax/experiments/lm/spmd_constants.h"

namespace pax {

/// A byte-level language model of a text file, small enough to train on a laptop in minutes.
struct ByteLmSmall : LmSpmdConstants {
  using Product = Preset<ByteLmSmall>;
  static constexpr std::string_view kName = "lm.text.ByteLmSmall";
  static constexpr std::string_view kDoc = "Byte language model of a text file; minutes on two CPU cores.";
  ByteLmSmall();

  /// The constants' task with the text that scripts/setup leaves, or the user's: `input.path`.
  ExperimentConfig experiment() const;
};

}  // namespace pax
