#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pax/base/error.h"
#include "pax/ops/broadcast.h"
#include "pax/ops/constant.h"
#include "pax/ops/convert.h"
#include "pax/ops/convolution.h"
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

namespace pax {
namespace {

using ::testing::HasSubstr;

/// A program in which a layer is being built.
class OpErrors : public ::testing::Test {
 protected:
  Tensor f32(Shape shape) { return graph_.argument(next(), {DType::kF32, std::move(shape)}); }
  Tensor i32(Shape shape) { return graph_.argument(next(), {DType::kS32, std::move(shape)}); }
  Tensor bf16(Shape shape) { return graph_.argument(next(), {DType::kBF16, std::move(shape)}); }

  template <class Build>
  std::string error_of(Build build) {
    try {
      build();
    } catch (const ShapeError& error) {
      return error.what();
    }
    return "no error";
  }

  Graph graph_;
  Graph::PathGuard path_{graph_, "lm/ffn"};

 private:
  std::string next() { return "x" + std::to_string(count_++); }
  int count_ = 0;
};

#define EXPECT_SAYS(expression, text) EXPECT_THAT(error_of([&] { (void)(expression); }), HasSubstr(text))

TEST_F(OpErrors, NameLayerOpAndBothTypes) {
  EXPECT_EQ(error_of([&] {
              (void)(f32({8, 128}) + f32({8, 64}));
            }),
            "lm/ffn: add: shapes f32[8,128] and f32[8,64] do not broadcast: dimension 1 from the end is 128 and 64");
}

TEST_F(OpErrors, SayThatElementTypesDiffer) {
  EXPECT_SAYS(f32({2}) * bf16({2}),
              "multiply: operands must be of one type, but operand 0 is f32[2] and operand 1 is bf16[2]");
}

TEST_F(OpErrors, SayWhichTypesAnOpTakes) {
  EXPECT_SAYS(exp(i32({2})), "operand 0 is i32[2], but only floating types have this op; convert it first");
  EXPECT_SAYS(eq(f32({2}), f32({2})) + eq(f32({2}), f32({2})), "bool has no arithmetic");
  EXPECT_SAYS(shift_left(f32({2}), f32({2})), "must be of an integer type");
  EXPECT_SAYS(logical_and(f32({2}), f32({2})), "only bool and integers have bits");
  EXPECT_SAYS(bitcast_convert(f32({2}), DType::kBF16), "f32[2] has elements of 4 bytes but bf16 has 2");
}

TEST_F(OpErrors, NameTheLetterOfAnEinsumAndBothSizes) {
  EXPECT_EQ(
      error_of([&] {
        einsum("btd,df->btf", f32({8, 128, 512}), f32({768, 3072}));
      }),
      "lm/ffn: einsum \"btd,df->btf\": d is 512 in operand 0, f32[8,128,512], but 768 in operand 1, f32[768,3072]");
}

TEST_F(OpErrors, ExplainWhatIsWrongWithAnEinsum) {
  EXPECT_SAYS(einsum("ab,bc", f32({2, 3})), "names 2 operands, but 1 are given");
  EXPECT_SAYS(einsum("abc->a", f32({2, 3})), "operand 0 is f32[2,3], but \"abc\" names 3 dimensions");
  EXPECT_SAYS(einsum("a->a", f32({2, 3})), "names 1 dimensions");
  EXPECT_SAYS(einsum("ab->ac", f32({2, 3})), "c is in the result but in no operand");
  EXPECT_SAYS(einsum("ab->aa", f32({2, 3})), "a is twice in the result");
  EXPECT_SAYS(einsum("a1->a", f32({2, 3})), "names 1 dimensions");
  EXPECT_SAYS(einsum("aa->a", f32({2, 3})), "a is 2 in operand 0, f32[2,3], but 3 in operand 0");
  EXPECT_SAYS(einsum("", std::vector<Tensor>{}), "no operands are given");
}

TEST_F(OpErrors, RefuseDimensionsThatAreNotThere) {
  EXPECT_SAYS(reduce_sum(f32({2, 3}), {2}), "dimension 2 does not exist in f32[2,3], which has 2");
  EXPECT_SAYS(reduce_sum(f32({2, 3}), {1, -1}), "dimensions [1,1] of f32[2,3] name one twice");
  EXPECT_SAYS(softmax(f32({2}), -2), "softmax: dimension -2 does not exist in f32[2]");
  EXPECT_SAYS(transpose(f32({2, 3}), {0, 0}), "[0,0] is no permutation of the dimensions of f32[2,3]");
  EXPECT_SAYS(squeeze(f32({2, 3}), {1}), "dimension 1 of f32[2,3] is 3, only 1 can be left out");
  EXPECT_SAYS(argmax(f32({2, 0}), 1), "dimension 1 of f32[2,0] is empty");
  EXPECT_SAYS(expand_dims(f32({2}), 3), "f32[2] has no place 3 for a dimension");
}

TEST_F(OpErrors, RefuseShapesThatDoNotHold) {
  EXPECT_SAYS(reshape(f32({2, 3}), {4, 2}), "f32[2,3] has 6 elements and does not go into shape [4,2]");
  EXPECT_SAYS(reshape(f32({2, 3}), {-2, -3}), "does not go into shape [-2,-3]");
  EXPECT_SAYS(broadcast_in_dim(f32({2}), {3}, {0}), "f32[2] does not go into shape [3] at dimensions [0]");
  EXPECT_SAYS(broadcast_to(f32({2, 3}), {3}), "f32[2,3] has more dimensions than [3]");
  EXPECT_SAYS(split(f32({5}), 0, 2), "dimension 0 of f32[5] is 5 and cannot be cut into 2 equal parts");
  EXPECT_SAYS(split(f32({5}), 0, std::vector<int64_t>{2, 2}), "the parts [2,2] add up to 4");
  EXPECT_SAYS(split_dim(f32({5}), 0, {2, -1}), "is 5 and cannot be split into [2,-1]");
}

TEST_F(OpErrors, RefusePartsThatAreNotThere) {
  EXPECT_SAYS(slice(f32({4}), {1}, {5}), "[1] to [5] by [1] is no part of f32[4]");
  EXPECT_SAYS(slice(f32({4}), {1, 0}, {2, 1}), "is no part of f32[4]");
  EXPECT_SAYS(slice(f32({4}), {3}, {1}), "is no part");
  EXPECT_SAYS(pad(f32({2}), 0, {-2}, {-1}), "f32[2] cannot be padded by [-2] before, [-1] after");
  EXPECT_SAYS(concatenate({f32({2, 3}), f32({2, 4})}, 0),
              "operand 0 is f32[2,3] and operand 1 is f32[2,4]: they may differ in dimension 0 only");
  EXPECT_SAYS(dynamic_slice(f32({4}), {i32({})}, {5}), "a slice of [5] is larger than f32[4]");
  EXPECT_SAYS(dynamic_slice(f32({4}), {f32({})}, {2}), "operand 1 is f32[], but must be of an integer type");
  EXPECT_SAYS(dynamic_update_slice(f32({4}), f32({5}), {i32({})}), "the update f32[5] is larger than f32[4]");
}

TEST_F(OpErrors, RefuseProductsThatDoNotFit) {
  EXPECT_SAYS(dot_general(f32({2, 3}), f32({4, 5}), {{}, {}, {1}, {0}}), "f32[2,3] and f32[4,5] do not fit");
  EXPECT_SAYS(dot_general(f32({2, 3}), f32({3}), {{}, {}, {1}, {3}}), "do not fit");
  EXPECT_SAYS(dot_general(f32({2, 3}), f32({3}), {{1}, {0}, {1}, {0}}), "do not fit");
  EXPECT_SAYS(matmul(f32({2, 3}), f32({4, 5})), "matmul: f32[2,3] and f32[4,5] do not fit");
  EXPECT_SAYS(convolution(f32({1, 8, 3}), f32({3, 2, 4}), {.dims = channels_last(1)}),
              "3 input features must be the kernel's 2 times 1 groups");
  EXPECT_SAYS(convolution(f32({1, 8, 3}), f32({3, 3, 4}), {.dims = channels_last(2)}), "do not fit them");
  EXPECT_SAYS(cholesky(f32({2, 3})), "operand 0 is f32[2,3], but its last two dimensions must be equal");
  EXPECT_SAYS(triangular_solve(f32({3, 3}), f32({4, 3})), "dimension 2 from the end of b must be 3");
}

TEST_F(OpErrors, RefuseIndicesThatDoNotFit) {
  EXPECT_SAYS(take(f32({4}), f32({2}), 0), "operand 1 is f32[2], but must be of an integer type");
  EXPECT_SAYS(take_along(f32({4, 2}), i32({2}), 0), "must have equally many dimensions");
  EXPECT_SAYS(gather(f32({4}), i32({2, 2}), {.index_map = {0}, .index_vector_dim = 1}, {1}),
              "do not fit the dimensions given");
  EXPECT_SAYS(scatter_at(f32({4, 2}), i32({3}), f32({2, 2}), 0),
              "updates f32[2,2] at indices i32[3] do not fit f32[4,2]");
  EXPECT_SAYS(top_k(f32({2, 3}), 4), "f32[2,3] has no 4 largest elements in its last dimension");
  EXPECT_SAYS(sort({f32({2}), f32({3})}, 0), "operand 0 is f32[2] and operand 1 is f32[3]");
}

TEST_F(OpErrors, RefuseKeysThatAreNone) {
  EXPECT_SAYS(random_bits(i32({2}), {3}), "a key is ui32[2], with any dimensions in front, but this is i32[2]");
  EXPECT_SAYS(random_uniform(random_key(graph_, 0), {DType::kS32, {2}}), "wants a floating type, not i32[2]");
  EXPECT_SAYS(random_integers(random_key(graph_, 0), {DType::kS32, {2}}, 3, 3), "with 3 and 3");
}

TEST_F(OpErrors, NameTheRankThatAShardingIsFor) {
  EXPECT_SAYS(sharding_constraint(f32({2, 3}), {{{"data"}}}),
              "f32[2,3] has 2 dimensions, but the sharding [{\"data\"}] is for 1");
}

TEST_F(OpErrors, SayThatAnInputWasNeverGiven) {
  EXPECT_SAYS(Tensor() + f32({2}), "an operand is the null Tensor");
  EXPECT_SAYS(exp(Tensor()), "exponential: the null Tensor was given");
  Graph other;
  EXPECT_SAYS(f32({2}) + other.argument("x", {DType::kF32, {2}}), "operand 1 belongs to another program");
}

}  // namespace
}  // namespace pax
