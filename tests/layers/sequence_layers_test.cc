#include <gtest/gtest.h>

#include <cmath>

#include "pax/layers/ngrammer/ngrammer.h"
#include "pax/layers/speech/ctc.h"
#include "pax/layers/ssm/state_space.h"
#include "tests/layers/matchers.h"
#include "tests/layers/testing.h"

namespace pax {
namespace {

TEST(CtcLoss, IsMinusTheLogProbabilityOfAllWaysToEmitTheLabels) {
  // Two frames, blank and one label, all equally likely: "a-", "-a" and "aa" are three of four.
  TracedLayer traced;
  const CtcInputs inputs{.logits_btk = traced.input("logits", {DType::kF32, {1, 2, 2}}),
                         .logit_paddings_bt = traced.input("frames", {DType::kF32, {1, 2}}),
                         .labels_bn = traced.input("labels", {DType::kS32, {1, 1}}),
                         .label_paddings_bn = traced.input("ends", {DType::kF32, {1, 1}})};
  const HostArray loss = run(traced, ctc_loss(inputs),
                             {{"logits", f32({0, 0, 0, 0}, {1, 2, 2})},
                              {"frames", f32({0, 0}, {1, 2})},
                              {"labels", s32({1}, {1, 1})},
                              {"ends", f32({0}, {1, 1})}});
  EXPECT_THAT(loss, near({-std::log(0.75)}));
}

TEST(Ssm, GivesDTimesItsInputWhereCIsZero) {
  SSM::Config config;
  config.nheads = 2;
  config.dim = 1;
  config.l_max = 3;
  const HostArray y =
      forward(config, {{"C_re", f32({0, 0}, {2, 1})}, {"C_im", f32({0, 0}, {2, 1})}, {"D", f32({2}, {1, 1})}},
              f32({1, 2, 3}, {1, 3, 1}));
  EXPECT_THAT(y, near({2, 4, 6}));
}

TEST(Ssm, SumsWhatItsStatesKeepOfThePast) {
  // One state that decays by exp(-0.5 h): its response is (1 - exp(-0.5 h)) / 0.5 * exp(-0.5 h l).
  SSM::Config config;
  config.nheads = 1;
  config.dim = 1;
  config.l_max = 2;
  config.step_size = 0.1;
  const HostArray y = forward(config, {{"C_re", f32({1}, {1, 1})}, {"C_im", f32({0}, {1, 1})}, {"D", f32({0}, {1, 1})}},
                              f32({1, 0}, {1, 2, 1}));
  const double now = (1 - std::exp(-0.05)) / 0.5;
  EXPECT_THAT(y, near({now, now * std::exp(-0.05)}));
}

TEST(BigramIds, PairEachIdWithTheOneBeforeItInItsSegment) {
  TracedLayer traced;
  const Tensor ids = traced.input("ids", {DType::kS32, {1, 3}}), places = traced.input("places", {DType::kS32, {1, 3}});
  const HostArray pairs =
      run(traced, bigram_ids(ids, 10, places), {{"ids", s32({3, 1, 2}, {1, 3})}, {"places", s32({0, 1, 0}, {1, 3})}});
  EXPECT_THAT(pairs, near({3, 31, 2}));
}

}  // namespace
}  // namespace pax
