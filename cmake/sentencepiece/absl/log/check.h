#pragma once
// What sentencepiece uses of abseil's checks, for the system's abseil, which has none.

#include "absl/log/log.h"

#define CHECK(condition) \
  if (condition) {       \
  } else                 \
    LOG(FATAL) << "check failed: " #condition " "
#define CHECK_OK(status) CHECK((status).ok())
#define CHECK_EQ(a, b) CHECK((a) == (b))
#define DCHECK_GE(a, b) CHECK((a) >= (b))
#define DCHECK_LT(a, b) CHECK((a) < (b))
