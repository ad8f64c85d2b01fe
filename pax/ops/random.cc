#include "pax/ops/random.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <limits>
#include <numbers>

#include "pax/ops/all_ops.h"
#include "pax/ops/broadcast.h"
#include "pax/ops/constant.h"
#include "pax/ops/convert.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/logic.h"
#include "pax/ops/require.h"
#include "pax/ops/reshape.h"
#include "pax/ops/slice.h"
#include "pax/ops/threefry.h"

namespace pax {
namespace {

using Dims = std::vector<int64_t>;

void require_key(const OpCall& call) {
  const TensorType& key = call.type(0);
  if (key.dtype == DType::kU32 && key.shape.rank() > 0 && key.shape[-1] == 2) return;
  call.fail(fmt::format("a key is ui32[2], with any dimensions in front, but this is {}", to_string(key)));
}

/// The two words of a key, each spread over the dimensions behind it to `shape`.
std::pair<Tensor, Tensor> words_of(Tensor key, const Shape& shape) {
  const auto spread = [&](int64_t word) {
    return broadcast_in_dim(index_dim(key, -1, word), shape, all_dims(key.rank() - 1));
  };
  return {spread(0), spread(1)};
}

/// High and low half of every element's number in row-major order, for the dimensions from `first` on.
std::pair<Tensor, Tensor> counters(Graph& graph, const Shape& shape, int64_t first) {
  int64_t count = 1;
  for (int64_t i = first; i < shape.rank(); ++i) count *= shape[i];
  const bool wide = count > std::numeric_limits<uint32_t>::max();
  const TensorType type{wide ? DType::kU64 : DType::kU32, shape};
  Tensor number = full(graph, type, 0);
  int64_t stride = 1;
  for (int64_t i = shape.rank() - 1; i >= first; --i) {
    if (shape[i] > 1) number = number + iota(graph, type, i) * static_cast<double>(stride);
    stride *= shape[i];
  }
  if (!wide) return {zeros_like(number), number};
  return {convert(shift_right_logical(number, full_like(number, 32)), DType::kU32), convert(number, DType::kU32)};
}

std::vector<Tensor> lower_random_bits(const OpCall& call, const Target&) {
  const Tensor key = call.operand(0);
  const Shape& shape = call.output().shape();
  const auto [high, low] = threefry2x32(words_of(key, shape), counters(call.graph, shape, key.rank() - 1));
  if (call.output().dtype() == DType::kU32) return {logical_xor(high, low)};
  const Tensor wide = convert(high, DType::kU64);
  return {logical_or(shift_left(wide, full_like(wide, 32)), convert(low, DType::kU64))};
}

/// Keys in front, batch included, come out in front: batching is the op itself.
std::vector<Tensor> batch_keys(const OpCall& call, const std::vector<bool>&) {
  return {emit(call.op, call.operands, call.attrs)};
}

constinit const OpDef kRandomBits{.name = "random_bits",
                                  .infer = [](const OpCall& call) -> ResultTypes {
                                    require_key(call);
                                    const DType dtype = call.attr<DType>("_dtype");
                                    if (dtype != DType::kU32 && dtype != DType::kU64) {
                                      call.fail(fmt::format("bits come as ui32 or ui64, not {}", mlir_name(dtype)));
                                    }
                                    const Shape prefix = call.shape(0).without(-1);
                                    return TensorType{dtype, Shape(call.attr<Dims>("_shape")).prefixed(prefix.dims())};
                                  },
                                  .batch = batch_keys,
                                  .lower = lower_random_bits};

/// Operands: keys [..., 2], data u32 [...].
constinit const OpDef kFoldIn{
    .name = "fold_in",
    .infer = [](const OpCall& call) -> ResultTypes {
      require_key(call);
      if (call.type(1) != TensorType{DType::kU32, call.shape(0).without(-1)}) {
        call.fail(fmt::format("keys {} and data {} do not fit", to_string(call.type(0)), to_string(call.type(1))));
      }
      return call.type(0);
    },
    .batch = [](const OpCall& call, const std::vector<bool>& batched) -> std::vector<Tensor> {
      const int64_t size = call.shape(batched[0] ? 0 : 1)[0];
      const auto alike = [&](size_t i) {
        return batched[i] ? call.operand(i) : repeat_in_front(call.operand(i), size);
      };
      return {emit(call.op, {alike(0), alike(1)})};
    },
    .lower = [](const OpCall& call, const Target&) -> std::vector<Tensor> {
      const Tensor data = call.operand(1);
      const auto [high, low] = threefry2x32(words_of(call.operand(0), data.shape()), {zeros_like(data), data});
      return {stack({high, low}, -1)};
    }};

/// Every element has a state, and so a generator, of its own.
std::vector<Tensor> batch_generator(const OpCall& call, const std::vector<bool>&) {
  std::vector<Tensor> states, bits;
  for (int64_t i = 0; i < call.shape(0)[0]; ++i) {
    const std::vector<Tensor> one = emit_all(call.graph, call.op, {index_dim(call.operand(0), 0, i)}, call.attrs, {});
    states.push_back(one[0]);
    bits.push_back(one[1]);
  }
  return {stack(states, 0), stack(bits, 0)};
}

constinit const OpDef kRngBitGenerator{
    .name = "rng_bit_generator",
    .infer = [](const OpCall& call) -> ResultTypes {
      if (call.type(0) != TensorType{DType::kU64, {2}}) {
        call.fail(fmt::format("the state must be ui64[2] but is {}", to_string(call.type(0))));
      }
      const DType dtype = call.attr<DType>("_dtype");
      if (is_signed(dtype) || !is_integer(dtype)) call.fail(fmt::format("bits are unsigned, not {}", mlir_name(dtype)));
      return std::vector<TensorType>{call.type(0), {dtype, Shape(call.attr<Dims>("_shape"))}};
    },
    .batch = batch_generator};

constexpr const OpDef* kOps[] = {&kRandomBits, &kFoldIn, &kRngBitGenerator};

/// Bits of the mantissa that are stored.
int mantissa_bits(DType dtype) {
  switch (dtype) {
    case DType::kF64:
      return 52;
    case DType::kF32:
      return 23;
    case DType::kF16:
      return 10;
    default:
      return 7;
  }
}

/// Uniform in [0, 1): random mantissa bits under the exponent of 1, less 1. Narrow types take as many bits as they
/// hold.
Tensor unit_uniform(Tensor key, const TensorType& type) {
  const int mantissa = mantissa_bits(type.dtype);
  if (type.dtype == DType::kF64) {
    const Tensor bits = random_bits(key, type.shape, DType::kU64);
    const Tensor one = constant(key.graph(), HostArray::scalar(std::bit_cast<uint64_t>(1.0)));
    const Tensor kept = shift_right_logical(bits, full_like(bits, 64 - mantissa));
    return bitcast_convert(logical_or(kept, one), DType::kF64) - 1.0;
  }
  Tensor bits = random_bits(key, type.shape);
  const int source_bits = type.dtype == DType::kF32 ? 32 : mantissa < 8 ? 8 : 16;
  if (source_bits < 32) bits = shift_left(bits, full_like(bits, 32 - source_bits));
  bits = shift_right_logical(bits, full_like(bits, 32 - mantissa));
  bits = shift_left(bits, full_like(bits, 23 - mantissa));
  const Tensor floats = bitcast_convert(logical_or(bits, full_like(bits, std::bit_cast<uint32_t>(1.0F))), DType::kF32);
  return convert(floats - 1.0, type.dtype);
}

TensorType at_least_f32(const TensorType& type) {
  return {type.dtype == DType::kF64 ? DType::kF64 : DType::kF32, type.shape};
}

double next_towards_zero(double x, DType dtype) {
  return dtype == DType::kF64 ? std::nextafter(x, 0.0) : std::nextafter(static_cast<float>(x), 0.0F);
}

}  // namespace

std::span<const OpDef* const> random_ops() { return kOps; }

Tensor random_key(Graph& graph, uint64_t seed) {
  const auto high = static_cast<uint32_t>(seed >> 32);
  const auto low = static_cast<uint32_t>(seed);
  return constant(graph, HostArray::of<uint32_t>({high, low}, {2}));
}

Tensor fold_in(Tensor key, Tensor data) { return emit(kFoldIn, {key, convert(data, DType::kU32)}); }

Tensor fold_in(Tensor key, uint32_t data) {
  return fold_in(key, full(key.graph(), {DType::kU32, key.shape().without(-1)}, data));
}

Tensor split_key(Tensor key, int64_t count) {
  return fold_in(repeat_in_front(key, count), iota(key.graph(), {DType::kU32, {count}}, 0));
}

Tensor random_bits(Tensor key, const Shape& shape, DType dtype) {
  return emit(kRandomBits, {key}, {{"_shape", to_vector(shape)}, {"_dtype", dtype}});
}

Tensor random_uniform(Tensor key, TensorType type, double low, double high) {
  if (!is_floating(type.dtype)) {
    fail_op(key.graph(), "random_uniform", fmt::format("wants a floating type, not {}", to_string(type)));
  }
  const Tensor unit = unit_uniform(key, type);
  if (low == 0 && high == 1) return unit;
  const Tensor least = full(key.graph(), type, low);
  const Tensor range = full(key.graph(), type, high) - least;
  return maximum(least, unit * range + least);
}

Tensor random_normal(Tensor key, TensorType type) {
  const TensorType wide = at_least_f32(type);
  const Tensor u = random_uniform(key, wide, next_towards_zero(-1, wide.dtype), 1);
  return convert(erf_inv(u) * std::numbers::sqrt2, type.dtype);
}

Tensor random_truncated_normal(Tensor key, TensorType type, double low, double high) {
  const TensorType wide = at_least_f32(type);
  const double a = std::erf(low / std::numbers::sqrt2);
  const double b = std::erf(high / std::numbers::sqrt2);
  const Tensor x = erf_inv(random_uniform(key, wide, a, b)) * std::numbers::sqrt2;
  return convert(clamp(next_towards_zero(low, wide.dtype), x, next_towards_zero(high, wide.dtype)), type.dtype);
}

Tensor random_gumbel(Tensor key, TensorType type) {
  const TensorType wide = at_least_f32(type);
  const double tiny =
      wide.dtype == DType::kF64 ? std::numeric_limits<double>::min() : std::numeric_limits<float>::min();
  return convert(-log(-log(random_uniform(key, wide, tiny, 1))), type.dtype);
}

Tensor random_bernoulli(Tensor key, const Shape& shape, double p) {
  return lt(random_uniform(key, {DType::kF32, shape}), p);
}

Tensor random_integers(Tensor key, TensorType type, int64_t low, int64_t high) {
  if (!is_integer(type.dtype) || high <= low || high - low > std::numeric_limits<uint32_t>::max()) {
    fail_op(key.graph(), "random_integers",
            fmt::format("wants an integer type and low < high, not {} with {} and {}", to_string(type), low, high));
  }
  const Tensor bits = random_bits(key, type.shape);
  const Tensor rest = remainder(bits, full_like(bits, static_cast<double>(high - low)));
  return convert(rest, type.dtype) + static_cast<double>(low);
}

std::pair<Tensor, Tensor> rng_bit_generator(Tensor state, TensorType type) {
  const std::vector<Tensor> out = emit_all(state.graph(), kRngBitGenerator, {state},
                                           {{"rng_algorithm", Mlir{"#stablehlo<rng_algorithm PHILOX>"}},
                                            {"_shape", to_vector(type.shape)},
                                            {"_dtype", type.dtype}},
                                           {});
  return {out[0], out[1]};
}

}  // namespace pax
