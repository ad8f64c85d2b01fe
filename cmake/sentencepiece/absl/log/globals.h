#pragma once
// What sentencepiece uses of abseil's logging controls, for the system's abseil, which has none.

#include "absl/base/log_severity.h"

namespace absl {

inline void SetMinLogLevel(LogSeverityAtLeast) {}

}  // namespace absl
