#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace pax::data {

/// How a tokenizer.json makes text of tokens: each step changes the list, the end is joined.
class HfDecoder {
 public:
  virtual ~HfDecoder() = default;
  virtual std::vector<std::string> apply(std::vector<std::string> tokens) const = 0;
};

/// The decoder of a tokenizer.json's node. Throws RuntimeError naming what is not supported.
std::unique_ptr<HfDecoder> make_decoder(const nlohmann::json& node, int depth = 0);

}  // namespace pax::data
