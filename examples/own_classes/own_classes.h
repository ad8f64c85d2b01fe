#pragma once

#include "pax/data/input.h"
#include "pax/layers/layer.h"
#include "pax/optim/optimizer.h"

namespace mine {

/// x logistic(scale x), with a scale that is learned.
class ScaledSwish final : public pax::Layer {
 public:
  struct Config : pax::LayerConfig {
    using Product = ScaledSwish;
    static constexpr std::string_view kName = "mine.ScaledSwish";
    static constexpr std::string_view kDoc = "Swish whose slope is learned.";
    double initial_scale = 1.0;
    static void fields(auto& self, auto&& visit) {
      LayerConfig::fields(self, visit);
      visit("initial_scale", self.initial_scale, {.doc = "First value of the scale.", .min = 0});
    }
  };
  ScaledSwish(const Config& config, const pax::Scope& scope);
  pax::Tensor fprop(pax::Tensor x) const override;

 private:
  pax::Tensor scale_;
};

/// Steps of one size, down the sign of the gradient.
class SignedSgd final : public pax::Optimizer {
 public:
  struct Config : pax::OptimizerConfig {
    using Product = SignedSgd;
    static constexpr std::string_view kName = "mine.SignedSgd";
    static constexpr std::string_view kDoc = "Gradient descent by sign.";
    static void fields(auto& self, auto&& visit) { OptimizerConfig::fields(self, visit); }
  };
  explicit SignedSgd(const Config& config) : Optimizer(config) {}
  std::vector<pax::Slot> raw_slots(const pax::Leaf& leaf) const override;
  pax::LeafUpdate raw_update(const pax::LeafStep& step) const override;
};

/// Rows of ids that count up to 16 and begin again, each from one further on.
class CountingRows final : public pax::data::Input {
 public:
  struct Config : pax::data::InputConfig {
    using Product = CountingRows;
    static constexpr std::string_view kName = "mine.CountingRows";
    static constexpr std::string_view kDoc = "Rows of ids that count.";
    pax::Required<int64_t> seq_len{};
    static void fields(auto& self, auto&& visit) {
      InputConfig::fields(self, visit);
      visit("seq_len", self.seq_len, {.doc = "Ids in a row.", .min = 1});
    }
  };
  explicit CountingRows(const Config& config);
  pax::data::BatchSpec spec() const override;

 protected:
  std::optional<pax::HostTree> produce() override;
  void rewind() override { start_ = 0; }
  std::string save_position() const override { return std::to_string(start_); }
  void restore_position(std::span<const std::string> states) override { start_ = std::stoll(states[0]); }

 private:
  int64_t seq_len_;
  int64_t start_ = 0;
};

}  // namespace mine
