#pragma once

#include <memory>
#include <string>
#include <vector>

#include "pax/optim/learner.h"

namespace pax {

/// A learner with further optimizers: `auxiliary_optimizers[i]` updates the variables whose names begin with a match of
/// `auxiliary_regex[i]`, the main one all others (paxml learners.MultiOptimizerLearner).
class MultiOptimizerLearner final : public Learner {
 public:
  struct Config : Learner::Config {
    using Product = MultiOptimizerLearner;
    static constexpr std::string_view kName = "paxml.learners.MultiOptimizerLearner";
    static constexpr std::string_view kDoc = "A learner with several optimizers, chosen by variable name.";
    std::vector<Tpl<Optimizer>> auxiliary_optimizers;
    std::vector<std::string> auxiliary_regex;
    std::vector<std::string> auxiliary_names;
    bool apply_separate_scaling = false;
    static void fields(auto& self, auto&& visit) {
      Learner::Config::fields(self, visit);
      visit("auxiliary_optimizers", self.auxiliary_optimizers);
      visit("auxiliary_regex", self.auxiliary_regex, "One for each of auxiliary_optimizers; they must not overlap.");
      visit("auxiliary_names", self.auxiliary_names, "Names in summaries, one for each of auxiliary_optimizers.");
      visit("apply_separate_scaling", self.apply_separate_scaling,
            "Clip the gradients of each optimizer by themselves, as its own config says.");
    }
    void validate(config::Errors& errors) const;
  };
  explicit MultiOptimizerLearner(const Config& config);

  ScaledGradients scale_gradients(const Tree<Tensor>& grads, Tree<Tensor>& metrics) const override;

 protected:
  const Optimizer& optimizer_of(std::string_view variable) const override;
  void add_learning_rates(Tensor count, Tree<Tensor>& metrics) const override;

 private:
  struct Auxiliary {
    std::string name;
    Pattern pattern;
    std::shared_ptr<Optimizer> optimizer;
  };
  std::vector<Auxiliary> auxiliaries_;
  const bool separate_scaling_;
};
extern template const config::ConfigType& config::type_of<MultiOptimizerLearner::Config>();

}  // namespace pax
