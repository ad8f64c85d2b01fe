#include "pax/kernels/attention_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pax/kernels/attention_rows.cc"
// The first one includes this file again, once a target.
// clang-format off
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include <hwy/contrib/math/math-inl.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace pax::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;

/// Calls `body(i, d)` for whole vectors, then for single elements.
template <class Body>
HWY_INLINE void over(int64_t size, const Body& body) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= size; i += lanes) body(i, d);
  const hn::CappedTag<float, 1> one;
  for (; i < size; ++i) body(i, one);
}

/// The sum or the largest of what was gathered in vectors and in single elements.
template <class Tag>
constexpr bool kIsVector = std::is_same_v<Tag, D>;

void bend(const LogitRow& row, float cap, float* slope) {
  over(row.size, [&](int64_t i, auto d) HWY_ATTR {
    const auto bent = hn::Tanh(d, hn::Mul(hn::LoadU(d, row.logits + i), hn::Set(d, 1 / cap)));
    hn::StoreU(hn::NegMulAdd(bent, bent, hn::Set(d, 1.0f)), d, slope + i);
    hn::StoreU(hn::Mul(bent, hn::Set(d, cap)), d, row.logits + i);
  });
}

void softmax_row(const LogitRow& row, double cap, float* slope) {
  if (cap > 0) bend(row, static_cast<float>(cap), slope);
  const D all;
  constexpr float kLowest = 2 * kLeastAllowed;
  auto largest = hn::Set(all, kLowest);
  float last = kLowest;
  over(row.size, [&](int64_t i, auto d) HWY_ATTR {
    const auto allowed = hn::Ge(hn::LoadU(d, row.mask + i), hn::Set(d, kLeastAllowed));
    const auto x = hn::IfThenElse(allowed, hn::LoadU(d, row.logits + i), hn::Set(d, kLowest));
    hn::StoreU(x, d, row.logits + i);
    if constexpr (kIsVector<decltype(d)>) {
      largest = hn::Max(largest, x);
    } else {
      last = hn::GetLane(hn::Max(x, hn::Set(d, last)));
    }
  });
  const float top = hn::GetLane(hn::Max(hn::MaxOfLanes(all, largest), hn::Set(all, last)));
  auto sum = hn::Zero(all);
  float rest = 0;
  over(row.size, [&](int64_t i, auto d) HWY_ATTR {
    const auto e = hn::Exp(d, hn::Sub(hn::LoadU(d, row.logits + i), hn::Set(d, top)));
    hn::StoreU(e, d, row.logits + i);
    if constexpr (kIsVector<decltype(d)>) {
      sum = hn::Add(sum, e);
    } else {
      rest += hn::GetLane(e);
    }
  });
  const float scale = 1 / (hn::GetLane(hn::SumOfLanes(all, sum)) + rest);
  over(row.size, [&](int64_t i, auto d) HWY_ATTR {
    hn::StoreU(hn::Mul(hn::LoadU(d, row.logits + i), hn::Set(d, scale)), d, row.logits + i);
  });
}

void softmax_grad_row(const LogitRow& row, const float* probs, const float* slope) {
  const D all;
  auto sum = hn::Zero(all);
  float rest = 0;
  over(row.size, [&](int64_t i, auto d) HWY_ATTR {
    const auto product = hn::Mul(hn::LoadU(d, row.logits + i), hn::LoadU(d, probs + i));
    if constexpr (kIsVector<decltype(d)>) {
      sum = hn::Add(sum, product);
    } else {
      rest += hn::GetLane(product);
    }
  });
  const float mean = hn::GetLane(hn::SumOfLanes(all, sum)) + rest;
  over(row.size, [&](int64_t i, auto d) HWY_ATTR {
    const auto allowed = hn::Ge(hn::LoadU(d, row.mask + i), hn::Set(d, kLeastAllowed));
    auto x = hn::Mul(hn::LoadU(d, probs + i), hn::Sub(hn::LoadU(d, row.logits + i), hn::Set(d, mean)));
    if (slope != nullptr) x = hn::Mul(x, hn::LoadU(d, slope + i));
    hn::StoreU(hn::IfThenElseZero(allowed, x), d, row.logits + i);
  });
}

}  // namespace
}  // namespace pax::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pax {
HWY_EXPORT(softmax_row);
HWY_EXPORT(softmax_grad_row);

void softmax_row(const LogitRow& row, double cap, float* slope) { HWY_DYNAMIC_DISPATCH(softmax_row)(row, cap, slope); }
void softmax_grad_row(const LogitRow& d_probs, const float* probs, const float* slope) {
  HWY_DYNAMIC_DISPATCH(softmax_grad_row)(d_probs, probs, slope);
}
}  // namespace pax
#endif
