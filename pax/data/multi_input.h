#pragma once

#include <map>
#include <memory>
#include <string>

#include "pax/data/input.h"

namespace pax::data {

/// Several inputs side by side: field f of input i is `i/f`. Ends when the first of them ends.
class MultiInput final : public Input {
 public:
  struct Config : InputConfig {
    using Product = MultiInput;
    static constexpr std::string_view kName = "praxis.base_input.MultiInput";
    static constexpr std::string_view kDoc = "Several inputs, each a branch of the batch.";
    std::map<std::string, Tpl<Input>> input_to_params{};
    std::string default_input;
    static void fields(auto& self, auto&& visit) {
      InputConfig::fields(self, visit);
      visit("input_to_params", self.input_to_params, "The inputs by name; hosts and seed are given to each.");
      visit("default_input", self.default_input, "The input whose tokenizer ids_to_strings uses.");
    }
  };

  explicit MultiInput(const Config& config);
  BatchSpec spec() const override;
  std::optional<int64_t> num_batches() const override;
  const Tokenizer* tokenizer() const override;

 protected:
  std::optional<HostTree> produce() override;
  void rewind() override;
  std::string save_position() const override;
  void restore_position(std::span<const std::string> states) override;

 private:
  std::map<std::string, std::shared_ptr<Input>> inputs_;
  std::string default_input_;
};

/// At most `num_batches` batches of another input, then the end; `reset` begins again (LingvoInputAdaptor).
class LimitedInput final : public Input {
 public:
  struct Config : InputConfig {
    using Product = LimitedInput;
    static constexpr std::string_view kName = "praxis.base_input.LingvoInputAdaptor";
    static constexpr std::string_view kDoc = "The first batches of another input.";
    Tpl<Input> input{};
    std::optional<int64_t> num_batches{};
    static void fields(auto& self, auto&& visit) {
      InputConfig::fields(self, visit);
      visit("input", self.input, "The input; hosts and seed are given to it.");
      visit("num_batches", self.num_batches, {.doc = "Batches until the end; unset: all.", .min = 1});
    }
  };

  explicit LimitedInput(const Config& config);
  BatchSpec spec() const override { return input_->spec(); }
  std::optional<int64_t> num_batches() const override;
  const Tokenizer* tokenizer() const override { return input_->tokenizer(); }

 protected:
  std::optional<HostTree> produce() override;
  void rewind() override;
  std::string save_position() const override;
  void restore_position(std::span<const std::string> states) override;

 private:
  std::shared_ptr<Input> input_;
  std::optional<int64_t> limit_;
  int64_t taken_ = 0;
};

}  // namespace pax::data

extern template const pax::config::ConfigType& pax::config::type_of<pax::data::MultiInput::Config>();
extern template const pax::config::ConfigType& pax::config::type_of<pax::data::LimitedInput::Config>();
