#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace pax {

/// Texts made from valid ones by cutting, repeating, swapping and sprinkling characters that mean something to YAML.
class Mutator {
 public:
  explicit Mutator(uint64_t seed) : random_(seed) {}

  std::string mutate(std::string text) {
    for (size_t n = 1 + below(6); n > 0; --n) {
      const size_t at = below(text.size() + 1);
      const size_t size = std::min(below(40), text.size() - at);
      switch (below(5)) {
        case 0:
          text.erase(at, size);
          break;
        case 1:
          text.insert(at, text.substr(below(text.size() + 1), size));
          break;
        case 2:
          text.insert(at, pick_token());
          break;
        case 3:
          if (at < text.size()) text[at] = static_cast<char>(below(256));
          break;
        default:
          text.replace(at, size, pick_token());
      }
    }
    return text;
  }

  size_t below(size_t bound) { return bound == 0 ? 0 : random_() % bound; }

 private:
  std::string pick_token() {
    static const std::vector<std::string> kTokens = {":",
                                                     ": ",
                                                     "- ",
                                                     "[",
                                                     "]",
                                                     "{",
                                                     "}",
                                                     "&a ",
                                                     "*a",
                                                     "*shared_1",
                                                     "!!str ",
                                                     "\"",
                                                     "'",
                                                     "\n",
                                                     "\n  ",
                                                     "\t",
                                                     "# ",
                                                     "? ",
                                                     "| ",
                                                     ">-\n",
                                                     "%YAML 1.2\n",
                                                     "---\n",
                                                     "null",
                                                     "true",
                                                     "1e999",
                                                     "-0",
                                                     "0x",
                                                     ".inf",
                                                     "__class__: ",
                                                     "Linear",
                                                     "praxis.layers.Model",
                                                     "\\ud83d",
                                                     "<<: ",
                                                     "...",
                                                     "@",
                                                     "`",
                                                     ",",
                                                     "99999999999999999999",
                                                     "\\u0000",
                                                     "\xc3",
                                                     "\xef\xbb\xbf"};
    return kTokens[below(kTokens.size())];
  }

  std::mt19937_64 random_;
};

}  // namespace pax
