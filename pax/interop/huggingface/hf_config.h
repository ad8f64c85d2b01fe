#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pax/layers/layer.h"

namespace pax::hf {

/// A model's config.json. Members are looked up by key; an absent or null one takes the default, which is that of
/// `transformers`. All throw ConfigError naming file and key when a value is of another kind.
class HfConfig {
 public:
  /// `text` must be a JSON object; `where` is its name in messages.
  HfConfig(std::string_view text, std::string where);

  const std::string& where() const { return where_; }
  const std::string& model_type() const { return model_type_; }
  /// "LlamaForCausalLM", "" when it is not said.
  std::string architecture() const;

  bool has(std::string_view key) const;  ///< present, be it null
  bool flag(std::string_view key, bool otherwise) const;
  /// Sizes: 1 to 2^40.
  int64_t size(std::string_view key, int64_t otherwise) const;
  std::optional<int64_t> optional_size(std::string_view key) const;
  double real(std::string_view key, double otherwise) const;
  std::optional<double> optional_real(std::string_view key) const;
  std::string text(std::string_view key, std::string_view otherwise) const;
  std::vector<std::string> texts(std::string_view key) const;
  std::vector<double> reals(std::string_view key) const;
  /// Ids of tokens: one or several; empty when absent or null.
  std::vector<int64_t> ids(std::string_view key) const;
  /// A pair, or one size twice.
  std::array<int64_t, 2> pair(std::string_view key, int64_t otherwise) const;
  /// Members of the object at `key`, or what is said otherwise when there is none.
  int64_t count(std::string_view key, int64_t otherwise) const;
  /// The object at `key`; nothing when absent, null or empty.
  std::optional<HfConfig> object(std::string_view key) const;

  [[noreturn]] void fail(std::string_view key, std::string_view message) const;

 private:
  HfConfig(const nlohmann::json& object, std::string where);
  const nlohmann::json* find(std::string_view key) const;

  std::shared_ptr<const nlohmann::json> json_;
  std::string where_;
  std::string model_type_;
};

/// The activation that `transformers` calls `name`. Throws ConfigError naming `key`.
Tpl<Layer> activation(const HfConfig& config, std::string_view key, std::string_view name);

}  // namespace pax::hf
