#include "pax/config/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pax/base/error.h"
#include "pax/config/errors.h"
#include "tests/config/things.h"

namespace pax::config {
namespace {

using testing::ElementsAre;
using testing::ThrowsMessage;
using namespace things;

TEST(Validate, FindsAllMistakesOfTheTree) {
  Model::Config model;
  model.model_dims = 6;
  model.extra_tpl = Linear::Config{};
  model.layers = {Linear::Config{.input_dims = 1, .output_dims = -1}};
  model.mesh_shape = {0};
  Errors errors;
  validate(model, errors);
  EXPECT_THAT(
      errors.messages(),
      ElementsAre(
          "mesh_shape[0]: 0 must be at least 1",
          "extra_tpl.input_dims: a value is required; it must be an integer (Size of the last axis of the input.)",
          "layers[0].output_dims: -1 must be at least 0", "model_dims: must be a multiple of 4"));
}

TEST(Validate, DoesNotMissWhatTheHolderFillsIn) {
  const Model::Config model;  // atten_tpl.proj_tpl.input_dims is set by the attention
  EXPECT_NO_THROW(require_valid(model));
}

TEST(Validate, PrefixesTheConfigsOwnChecks) {
  Model::Config model;
  model.extra_tpl = Model::Config{.model_dims = 3};
  EXPECT_THAT([&] { require_valid(model); },
              ThrowsMessage<ConfigError>("extra_tpl.model_dims: must be a multiple of 4"));
}

}  // namespace
}  // namespace pax::config
