#include <gtest/gtest.h>

#include <chrono>

#include "pax/base/error.h"
#include "pax/config/check.h"
#include "pax/config/compare.h"
#include "pax/config/paths.h"
#include "pax/config/yaml.h"
#include "tests/config/mutator.h"
#include "tests/config/things.h"

namespace pax {
namespace {

using namespace things;

TEST(Fuzz, EveryTextIsReadOrRefusedAndWhatIsReadPrintsAndReadsBack) {
  const config::Registry all = registry();
  Model::Config with_shared;
  with_shared.extra_tpl = with_shared.activation_tpl;
  const std::vector<std::string> seeds = {config::print(busy_model()), config::print(with_shared),
                                          config::to_json(config::to_value(busy_model()))};
  Mutator mutator(17);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  int accepted = 0;
  while (std::chrono::steady_clock::now() < end) {
    const std::string text = mutator.mutate(seeds[mutator.below(seeds.size())]);
    try {
      const Tpl<Layer> tpl = config::parse<Layer>(text, all);
      const std::string printed = config::print(tpl);
      const Tpl<Layer> again = config::parse<Layer>(printed, all);
      ASSERT_EQ(config::print(again), printed) << text;
      ASSERT_TRUE(config::equal(config::Ref(tpl), config::Ref(again))) << text;
      const Tpl<Layer> changed = config::parse<Layer>(config::print(tpl, {.only_changed = true}), all);
      ASSERT_EQ(config::print(changed), printed) << text;
      ++accepted;
    } catch (const ConfigError&) {
    }
  }
  EXPECT_GT(accepted, 10);
}

TEST(Fuzz, EveryOverrideIsDoneOrRefused) {
  const config::Registry all = registry();
  const Tpl<Layer> seed = busy_model();
  const std::vector<std::string> assignments = {
      "model_dims=512",   "layers[0].output_dims=7",  "rules[\"a.b\"]=3", "split.wt=[null, mdl, [a, b]]",
      "extra_tpl=Linear", "extra_tpl.__class__=GELU", "free.k={a: 1}",    "atten_tpl={__class__: DotProductAttention}"};
  Mutator mutator(23);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (std::chrono::steady_clock::now() < end) {
    const Tpl<Layer> tpl = seed.clone();
    const std::vector<std::string> mutated = {mutator.mutate(assignments[mutator.below(assignments.size())])};
    try {
      config::apply_overrides(tpl, mutated, all);
    } catch (const ConfigError&) {
    }
    const std::string printed = config::print(tpl);
    ASSERT_EQ(config::print(config::parse<Layer>(printed, all)), printed) << mutated[0];
  }
}

}  // namespace
}  // namespace pax
