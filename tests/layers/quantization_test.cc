#include "pax/layers/quantization/quantized_layers.h"

#include <gtest/gtest.h>

#include "tests/layers/matchers.h"
#include "tests/layers/testing.h"

namespace pax {
namespace {

TEST(QuantizedLinear, MultipliesWholeNumbersByTheirScale) {
  QuantizedLinear::Config config;
  config.input_dims = 2;
  config.output_dims = 1;
  const HostArray y =
      forward(config, {{"w", HostArray::of<int8_t>({1, 2}, {2, 1})}, {"w_quantized_scale", f32({0.5}, {1})}},
              f32({1, 1}, {1, 2}));
  EXPECT_THAT(y, near({1.5}));
}

TEST(QuantizedLinear, ReadsFourBitNumbersFromEightToAnElement) {
  QuantizedLinear::Config config;
  config.input_dims = 8;
  config.output_dims = 1;
  config.quantization->weight_params.precision = 4;
  // 1 in the lowest place, -1 in the second.
  const HostArray y = forward(config, {{"w", s32({0xF1}, {1, 1})}, {"w_quantized_scale", f32({1}, {1})}},
                              f32({3, 1, 7, 7, 7, 7, 7, 7}, {1, 8}));
  EXPECT_THAT(y, near({2}));
}

}  // namespace
}  // namespace pax
