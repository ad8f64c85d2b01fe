#pragma once
// What sentencepiece uses of abseil's StatusBuilder, for the system's abseil, which has none.

#include <sstream>

#include "absl/status/status.h"

namespace absl {

class StatusBuilder {
 public:
  explicit StatusBuilder(StatusCode code) : code_(code) {}
  template <class T>
  StatusBuilder& operator<<(const T& value) {
    text_ << value;
    return *this;
  }
  operator Status() const { return Status(code_, text_.str()); }

 private:
  StatusCode code_;
  std::ostringstream text_;
};

}  // namespace absl
