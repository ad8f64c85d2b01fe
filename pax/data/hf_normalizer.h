#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace pax::data {

/// What a tokenizer.json does to text before it is cut.
class HfNormalizer {
 public:
  virtual ~HfNormalizer() = default;
  virtual std::string apply(std::string text) const = 0;
};

/// The normalizer of a tokenizer.json's node. Throws RuntimeError naming what is not supported.
std::unique_ptr<HfNormalizer> make_normalizer(const nlohmann::json& node, int depth = 0);

}  // namespace pax::data
