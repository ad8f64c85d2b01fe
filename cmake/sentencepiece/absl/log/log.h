#pragma once
// What sentencepiece uses of abseil's logging, for the system's abseil, which has none: messages go to standard error.

#include <cstdlib>
#include <iostream>
#include <sstream>

namespace sentencepiece_log {

enum Severity { kINFO, kWARNING, kERROR, kFATAL };

class Message {
 public:
  explicit Message(Severity severity) : severity_(severity) {}
  ~Message() {
    if (severity_ > kINFO) std::cerr << "sentencepiece: " << text_.str() << '\n';
    if (severity_ == kFATAL) std::abort();
  }
  std::ostream& stream() { return text_; }

 private:
  const Severity severity_;
  std::ostringstream text_;
};

}  // namespace sentencepiece_log

#define LOG(severity) ::sentencepiece_log::Message(::sentencepiece_log::k##severity).stream()
