#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "pax/autodiff/grad.h"
#include "pax/base/error.h"
#include "pax/ir/stablehlo.h"
#include "pax/ops/activations.h"
#include "pax/ops/broadcast.h"
#include "pax/ops/constant.h"
#include "pax/ops/convert.h"
#include "pax/ops/convolution.h"
#include "pax/ops/cumulative.h"
#include "pax/ops/dot.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/gather.h"
#include "pax/ops/identity.h"
#include "pax/ops/linalg.h"
#include "pax/ops/logic.h"
#include "pax/ops/random.h"
#include "pax/ops/reduce.h"
#include "pax/ops/reshape.h"
#include "pax/ops/slice.h"
#include "pax/ops/sort.h"
#include "pax/ops/window.h"
#include "tests/ops/testing.h"

namespace pax {
namespace {

using Dims = std::vector<int64_t>;

/// Draws programs: operands from what is there, attributes that mostly make sense and now and then do not at all.
class Fuzzer {
 public:
  explicit Fuzzer(uint64_t seed) : generator_(seed) {
    for (int i = 0; i < 3; ++i) {
      pool_.push_back(graph_.argument("x" + std::to_string(i), {dtype(), shape()}));
    }
  }

  /// Adds an op, or throws ShapeError.
  void step();
  Graph& graph() { return graph_; }
  std::vector<Tensor>& pool() { return pool_; }
  int64_t up_to(int64_t last) { return std::uniform_int_distribution<int64_t>(0, last)(generator_); }

 private:
  bool rarely() { return up_to(19) == 0; }

  int64_t number() {
    constexpr int64_t kExtremes[] = {std::numeric_limits<int64_t>::max(),
                                     std::numeric_limits<int64_t>::min(),
                                     int64_t{1} << 40,
                                     -1,
                                     -2,
                                     0,
                                     1000000007};
    if (rarely()) return kExtremes[up_to(std::size(kExtremes) - 1)];
    return up_to(4);
  }
  Dims numbers(int64_t count) {
    Dims out(static_cast<size_t>(rarely() ? up_to(4) : count));
    for (int64_t& n : out) n = number();
    return out;
  }
  std::vector<std::pair<int64_t, int64_t>> pairs(int64_t count) {
    std::vector<std::pair<int64_t, int64_t>> out(static_cast<size_t>(rarely() ? up_to(3) : count));
    for (auto& pair : out) pair = {number(), number()};
    return out;
  }
  /// Some dimensions, each mostly once.
  Dims some_dims(Tensor x) {
    Dims out;
    for (int64_t i = 0; i < x.rank(); ++i) {
      if (up_to(1) == 0) out.push_back(rarely() ? number() : i);
    }
    return out;
  }
  Shape shape() {
    Shape out;
    for (int64_t i = up_to(3); i > 0; --i) out.push_back(up_to(3) + (up_to(9) == 0 ? 0 : 1));
    return out;
  }
  DType dtype() {
    constexpr DType kTypes[] = {DType::kF32, DType::kF32, DType::kF32, DType::kF64, DType::kBF16,
                                DType::kS32, DType::kS32, DType::kU32, DType::kPred};
    return kTypes[up_to(std::size(kTypes) - 1)];
  }
  Tensor any() { return pool_[static_cast<size_t>(up_to(static_cast<int64_t>(pool_.size()) - 1))]; }
  Tensor f32() { return convert(any(), DType::kF32); }
  Tensor scalar() { return constant(graph_, HostArray::scalar<int32_t>(static_cast<int32_t>(up_to(9)) - 3)); }
  std::vector<Tensor> scalars(int64_t count) {
    std::vector<Tensor> out;
    for (int64_t i = rarely() ? up_to(3) : count; i > 0; --i) out.push_back(rarely() ? any() : scalar());
    return out;
  }
  std::string labels(int64_t count) {
    std::string out = rarely() ? "..." : "";
    for (int64_t i = rarely() ? up_to(3) : count; i > 0; --i) out += "abcd1-"[up_to(rarely() ? 5 : 3)];
    return out;
  }
  Window window(int64_t rank) {
    Window out = Window::of_rank(rarely() ? up_to(3) : rank);
    for (size_t i = 0; i < out.sizes.size(); ++i)
      out.sizes[i] = number(), out.strides[i] = rarely() ? number() : 1 + up_to(1);
    if (rarely()) out.window_dilation = numbers(rank);
    if (rarely()) out.padding = pairs(rank);
    return out;
  }

  Tensor elementwise();
  Tensor shaped();
  Tensor indexed();
  Tensor reduced();
  Tensor multiplied();
  Tensor drawn();

  std::mt19937_64 generator_;
  Graph graph_;
  std::vector<Tensor> pool_;
};

Tensor Fuzzer::elementwise() {
  constexpr Tensor (*kUnary[])(Tensor) = {negate, abs,           sign,  exp,       log1p,       logistic,
                                          tanh,   sqrt,          rsqrt, sine,      floor,       softplus,
                                          relu,   stop_gradient, erf,   is_finite, logical_not, square};
  constexpr Tensor (*kBinary[])(Tensor, Tensor) = {add,         subtract,    multiply,   divide,    power,
                                                   maximum,     minimum,     atan2,      eq,        lt,
                                                   logical_and, logical_xor, shift_left, remainder, logaddexp};
  switch (up_to(5)) {
    case 0:
      return kBinary[up_to(std::size(kBinary) - 1)](any(), any());
    case 1:
      return kBinary[up_to(std::size(kBinary) - 1)](f32(), f32());
    case 2:
      return convert(any(), dtype());
    case 3:
      return select(gt(f32(), 0.0), any(), any());
    case 4:
      return clamp(-1, any(), 2.5);
    default:
      return kUnary[up_to(std::size(kUnary) - 1)](any());
  }
}

Tensor Fuzzer::shaped() {
  const Tensor x = any();
  switch (up_to(13)) {
    case 0:
      return reshape(x, Shape(numbers(2)));
    case 1:
      return reshape(x, rarely() ? Shape{-1, number()} : Shape{-1});
    case 2:
      return transpose(x, numbers(x.rank()));
    case 3:
      return move_dim(x, number(), number());
    case 4:
      return broadcast_to(x, Shape(numbers(x.rank() + 1)));
    case 5:
      return broadcast_in_dim(x, Shape(numbers(x.rank() + 1)), some_dims(x));
    case 6:
      return slice(x, numbers(x.rank()), numbers(x.rank()), rarely() ? numbers(x.rank()) : Dims{});
    case 7:
      return slice_dim(x, number(), number(), number());
    case 8:
      return pad(x, 0, numbers(x.rank()), numbers(x.rank()), rarely() ? numbers(x.rank()) : Dims{});
    case 9:
      return concatenate({x, any(), any()}, number());
    case 10:
      return stack({x, x}, number());
    case 11:
      return reverse(x, some_dims(x));
    case 12:
      return split(x, number(), number())[0];
    default:
      return split_dim(x, number(), Shape(numbers(2)));
  }
}

Tensor Fuzzer::indexed() {
  const Tensor x = any();
  const Tensor ids = convert(any(), DType::kS32);
  switch (up_to(9)) {
    case 0:
      return take(x, ids, number());
    case 1:
      return take_along(x, ids, number());
    case 2:
      return scatter_at(x, ids, any(), number(), static_cast<Scatter>(up_to(4)));
    case 3:
      return gather(x, ids, {some_dims(x), some_dims(x), {}, {}, some_dims(x), up_to(2)}, numbers(x.rank()));
    case 4:
      return dynamic_slice(x, scalars(x.rank()), numbers(x.rank()));
    case 5:
      return dynamic_update_slice(x, any(), scalars(x.rank()));
    case 6:
      return one_hot(ids, number(), DType::kF32, number());
    case 7:
      return sort(x, number());
    case 8:
      return top_k(x, number()).first;
    default:
      return argsort(x, number());
  }
}

Tensor Fuzzer::reduced() {
  const Tensor x = any();
  constexpr Tensor (*kReduce[])(Tensor, Dims, Reduced) = {reduce_sum,  reduce_mean, reduce_max, reduce_min,
                                                          reduce_prod, reduce_and,  logsumexp};
  switch (up_to(6)) {
    case 0:
      return argmax(x, number());
    case 1:
      return softmax(f32(), number());
    case 2:
      return cumsum(x, number());
    case 3:
      return cummax(x, number(), Direction::kReverse);
    case 4:
      return reduce_window_max(x, window(x.rank()));
    case 5:
      return reduce_window_sum(x, window(x.rank()));
    default:
      return kReduce[up_to(std::size(kReduce) - 1)](x, some_dims(x),
                                                    up_to(1) == 0 ? Reduced::kKept : Reduced::kDropped);
  }
}

Tensor Fuzzer::multiplied() {
  const Tensor a = f32();
  const Tensor b = f32();
  switch (up_to(6)) {
    case 0:
      return matmul(a, b);
    case 1:
      return einsum(labels(a.rank()) + "," + labels(b.rank()) + "->" + labels(1), a, b);
    case 2:
      return einsum(labels(a.rank()) + "," + labels(b.rank()), a, b);
    case 3:
      return dot_general(a, b, {some_dims(a), some_dims(b), some_dims(a), some_dims(b)});
    case 4:
      return convolution(
          a, b, {.dims = channels_last(1), .strides = numbers(1), .padding = pairs(1), .feature_groups = number()});
    case 5:
      return cholesky(a);
    default:
      return triangular_solve(a, b);
  }
}

Tensor Fuzzer::drawn() {
  const Tensor key = rarely() ? any() : random_key(graph_, static_cast<uint64_t>(up_to(99)));
  switch (up_to(3)) {
    case 0:
      return random_uniform(key, {dtype(), shape()});
    case 1:
      return convert(random_bernoulli(key, Shape(numbers(1)), 0.5), DType::kF32);
    case 2:
      return iota(graph_, {dtype(), Shape(numbers(2))}, number());
    default:
      return full(graph_, {dtype(), Shape(numbers(2))}, 1);
  }
}

void Fuzzer::step() {
  constexpr Tensor (Fuzzer::*kKinds[])() = {&Fuzzer::elementwise, &Fuzzer::shaped,     &Fuzzer::indexed,
                                            &Fuzzer::reduced,     &Fuzzer::multiplied, &Fuzzer::drawn};
  const Tensor result = (this->*kKinds[up_to(std::size(kKinds) - 1)])();
  if (result.shape().num_elements() <= 4096) pool_.push_back(result);
}

/// Builds a program of up to 20 ops and, sometimes, its gradient; gives how many ops were refused.
int build(Fuzzer& fuzzer) {
  int refused = 0;
  for (int64_t i = fuzzer.up_to(20); i >= 0; --i) {
    try {
      fuzzer.step();
    } catch (const ShapeError&) {
      ++refused;
    }
  }
  const Tensor last = fuzzer.pool().back();
  if (is_floating(last.dtype()) && fuzzer.up_to(3) == 0) {
    std::vector<Tensor> wrt;
    for (const Tensor& x : fuzzer.pool()) {
      if (is_floating(x.dtype()) && fuzzer.graph().value(x.id()).node < 0) wrt.push_back(x);
    }
    try {
      const Tensor seed = full_like(last, 1);
      for (const Tensor& grad : pullback(std::span(&last, 1), std::span(&seed, 1), wrt)) {
        if (grad) fuzzer.pool().push_back(grad);
      }
    } catch (const ShapeError&) {
      ++refused;
    }
  }
  for (size_t i = 0; i < fuzzer.pool().size(); ++i) fuzzer.graph().output("y" + std::to_string(i), fuzzer.pool()[i]);
  return refused;
}

void verify_and_write(Graph& graph) {
  const std::unique_ptr<Graph> lowered = lower(graph, {});
  verify(*lowered);
  EXPECT_FALSE(to_stablehlo(*lowered).empty());
}

TEST(Fuzz, ProgramsAreBuiltOrRefusedButNeverBreak) {
  constexpr int kPrograms = 10000;
  int refused = 0;
  for (int seed = 0; seed < kPrograms; ++seed) {
    SCOPED_TRACE(seed);
    Fuzzer fuzzer(static_cast<uint64_t>(seed));
    refused += build(fuzzer);
    EXPECT_NO_THROW(verify_and_write(fuzzer.graph()));
  }
  // Both kinds must be met often, or the draw is of no use.
  EXPECT_GT(refused, kPrograms);
}

TEST(Fuzz, WhatIsBuiltCompilesAndRuns) {
  for (int seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE(seed);
    Fuzzer fuzzer(static_cast<uint64_t>(seed) * 7919 + 1);
    build(fuzzer);
    std::vector<HostArray> inputs;
    for (const Argument& argument : fuzzer.graph().arguments()) {
      inputs.push_back(random_array(fuzzer.graph().value(argument.value).type, 0, 3, static_cast<uint64_t>(seed)));
    }
    EXPECT_NO_THROW(run(fuzzer.graph(), inputs));
  }
}

}  // namespace
}  // namespace pax
