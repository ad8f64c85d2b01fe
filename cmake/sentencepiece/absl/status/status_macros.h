#pragma once
// What sentencepiece uses of abseil's status macros, for the system's abseil, which has none.

#include "absl/status/status.h"

#define ABSL_RETURN_IF_ERROR(expression)                        \
  do {                                                          \
    if (absl::Status status_ = (expression); !status_.ok()) {   \
      return status_;                                           \
    }                                                           \
  } while (false)
