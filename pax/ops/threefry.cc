#include "pax/ops/threefry.h"

#include "pax/ops/constant.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/logic.h"

namespace pax {
namespace {

Tensor rotate_left(Tensor x, int bits) {
  return logical_or(shift_left(x, full_like(x, bits)), shift_right_logical(x, full_like(x, 32 - bits)));
}

}  // namespace

std::pair<Tensor, Tensor> threefry2x32(std::pair<Tensor, Tensor> key, std::pair<Tensor, Tensor> words) {
  constexpr int kRotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  constexpr double kParity = 0x1BD11BDA;
  const Tensor keys[3] = {key.first, key.second,
                          logical_xor(logical_xor(key.first, key.second), full_like(key.first, kParity))};
  Tensor x0 = words.first + keys[0];
  Tensor x1 = words.second + keys[1];
  for (int group = 0; group < 5; ++group) {
    for (const int rotation : kRotations[group % 2]) {
      x0 = x0 + x1;
      x1 = logical_xor(rotate_left(x1, rotation), x0);
    }
    x0 = x0 + keys[(group + 1) % 3];
    x1 = x1 + keys[(group + 2) % 3] + static_cast<double>(group + 1);
  }
  return {x0, x1};
}

}  // namespace pax
