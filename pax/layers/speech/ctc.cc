#include "pax/layers/speech/ctc.h"

#include <fmt/format.h>

#include "pax/control/scan.h"
#include "pax/ops/broadcast.h"
#include "pax/ops/constant.h"
#include "pax/ops/convert.h"
#include "pax/ops/dot.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/gather.h"
#include "pax/ops/logic.h"
#include "pax/ops/reduce.h"
#include "pax/ops/require.h"
#include "pax/ops/reshape.h"
#include "pax/ops/slice.h"

namespace pax {
namespace {

void check(const CtcInputs& in) {
  const bool ranks = in.logits_btk.rank() == 3 && in.logit_paddings_bt.rank() == 2 && in.labels_bn.rank() == 2 &&
                     in.label_paddings_bn.rank() == 2;
  if (ranks && in.logit_paddings_bt.dim(0) == in.logits_btk.dim(0) && in.labels_bn.dim(0) == in.logits_btk.dim(0) &&
      in.logit_paddings_bt.dim(1) == in.logits_btk.dim(1) && in.label_paddings_bn.shape() == in.labels_bn.shape()) {
    return;
  }
  fail_op(in.logits_btk.graph(), "ctc_loss",
          fmt::format("logits {}, their paddings {}, labels {}, their paddings {}: these must be [B, T, K], [B, T], "
                      "[B, N], [B, N]",
                      to_string(in.logits_btk.type()), to_string(in.logit_paddings_bt.type()),
                      to_string(in.labels_bn.type()), to_string(in.label_paddings_bn.type())));
}

Tensor f32(Tensor x) { return convert(x, DType::kF32); }

/// Rows of `x` moved right along the last dimension by `amounts` [B], `fill` where nothing is left. `x` is [B, n] or
/// [T, B, n].
Tensor shift_rows(Tensor x, Tensor amounts, double fill) {
  const int64_t size = x.dim(-1);
  Tensor from = iota(x.graph(), {DType::kS32, {1, size}}, 1) - expand_dims(convert(amounts, DType::kS32), -1);
  const Tensor inside = logical_and(ge(from, 0.0), lt(from, static_cast<double>(size)));
  from = broadcast_to(select(inside, from, 0.0), x.shape());
  return select(broadcast_to(inside, x.shape()), take_along(x, from, -1), fill);
}

/// `phi` [B, N + 1] with `score` [B, N] added to all but the first, in log space.
Tensor add_after_first(Tensor phi, Tensor score) {
  const int64_t last = phi.dim(1);
  return concatenate({slice_dim(phi, 1, 0, 1), logaddexp(slice_dim(phi, 1, 1, last), score)}, 1);
}

}  // namespace

CtcForward ctc_loss_with_forward_probs(const CtcInputs& in) {
  check(in);
  Graph& graph = in.logits_btk.graph();
  const int64_t batch = in.labels_bn.dim(0), labels = in.labels_bn.dim(1), frames = in.logits_btk.dim(1);
  const double zero = in.log_epsilon;
  const Tensor logprobs = log_softmax(f32(in.logits_btk));
  const Tensor phi_t = transpose(slice_dim(logprobs, 2, in.blank_id, in.blank_id + 1), {1, 0, 2});
  const Tensor hot = one_hot(in.labels_bn, in.logits_btk.dim(2), DType::kF32);
  const Tensor emit_t = einsum("btk,bnk->tbn", logprobs, hot);
  // 1 where the next label is the same: between them there must be a blank.
  const Tensor repeat =
      pad_dim(f32(eq(slice_dim(in.labels_bn, 1, 0, labels - 1), slice_dim(in.labels_bn, 1, 1, labels))), 1, 0, 1);

  const Tensor first_phi = pad_dim(full(graph, {DType::kF32, {batch, 1}}, 0.0), 1, 0, labels, zero);
  const Tensor first_emit = full(graph, {DType::kF32, {batch, labels}}, zero);
  const std::vector<Tensor> init{first_phi, first_emit};
  const std::vector<Tensor> xs{emit_t, phi_t, expand_dims(transpose(f32(in.logit_paddings_bt), {1, 0}), -1)};
  const ScanStep loop =
      scan(graph, {.length = frames}, init, xs, [&](std::span<const Tensor> carry, std::span<const Tensor> x) {
        const Tensor before = carry[0], emit = carry[1], padded = x[2];
        const Tensor phi = add_after_first(before, emit + repeat * zero);
        const Tensor next_emit = logaddexp(slice_dim(phi, 1, 0, labels) + x[0], emit + x[0]);
        const Tensor next_phi = add_after_first(phi + x[1], emit + x[1] + (1.0 - repeat) * zero);
        const std::vector<Tensor> next{padded * before + (1.0 - padded) * next_phi,
                                       padded * emit + (1.0 - padded) * next_emit};
        return ScanStep{.carry = next, .ys = next};
      });
  CtcForward out;
  const Tensor last = add_after_first(loop.carry[0], loop.carry[1]);
  out.logalpha_phi = concatenate({slice_dim(loop.ys[0], 0, 0, frames - 1), expand_dims(last, 0)}, 0);
  out.logalpha_emit = loop.ys[1];
  const Tensor length = static_cast<double>(labels) - convert(reduce_sum(in.label_paddings_bn, {1}), DType::kS32);
  out.per_seq_loss = -reduce_sum(last * one_hot(length, labels + 1, DType::kF32), {1});
  return out;
}

Tensor ctc_loss(const CtcInputs& inputs) { return ctc_loss_with_forward_probs(inputs).per_seq_loss; }

CtcAlignments ctc_loss_with_alignments(const CtcInputs& in) {
  const CtcForward forward = ctc_loss_with_forward_probs(in);
  const int64_t batch = in.labels_bn.dim(0), labels = in.labels_bn.dim(1), frames = in.logits_btk.dim(1);
  const Tensor padded_labels = convert(reduce_sum(in.label_paddings_bn, {1}), DType::kS32);

  // The same from the end to the start: labels are turned around and moved to the front again.
  CtcInputs turned = in;
  turned.logits_btk = reverse(in.logits_btk, {1});
  turned.logit_paddings_bt = reverse(in.logit_paddings_bt, {1});
  turned.labels_bn = shift_rows(reverse(in.labels_bn, {1}), -padded_labels, 0);
  const CtcForward backward = ctc_loss_with_forward_probs(turned);
  const auto back = [&](Tensor x) { return shift_rows(reverse(x, {0, 2}), -padded_labels, in.log_epsilon); };
  const auto state = [&](Tensor emit, Tensor phi) { return logaddexp(pad_dim(emit, 2, 1, 0, in.log_epsilon), phi); };

  CtcAlignments out;
  out.per_seq_loss = forward.per_seq_loss;
  out.state_logprobs = state(forward.logalpha_emit, forward.logalpha_phi) +
                       state(back(backward.logalpha_emit), back(backward.logalpha_phi));

  // From left to right, never back, never skipping a label, and early enough to emit them all.
  Graph& graph = in.logits_btk.graph();
  const auto length = [](int64_t size, Tensor paddings) {
    return expand_dims(static_cast<double>(size) - convert(reduce_sum(paddings, {1}), DType::kS32), -1);
  };
  const Tensor label_length = length(labels, in.label_paddings_bn);
  const Tensor blanks = length(frames, in.logit_paddings_bt) - label_length;
  const Tensor least = minimum(maximum(iota(graph, {DType::kS32, {batch, frames}}, 1) - blanks, 0.0), label_length);
  const std::vector<Tensor> init{full(graph, {DType::kS32, {batch}}, 0.0)};
  const std::vector<Tensor> xs{out.state_logprobs, transpose(least, {1, 0})};
  const ScanStep loop =
      scan(graph, {.length = frames}, init, xs, [&](std::span<const Tensor> carry, std::span<const Tensor> x) {
        const Tensor place = iota(graph, {DType::kS32, {1, labels + 1}}, 1);
        const Tensor from = expand_dims(maximum(carry[0], x[1]), -1);
        const Tensor to = expand_dims(carry[0], -1) + 1.0;
        const Tensor allowed = logical_and(ge(place, from), le(place, to));
        const Tensor label = argmax(select(allowed, x[0], in.log_epsilon), -1);
        return ScanStep{.carry = {label}, .ys = {label}};
      });
  out.alignment = transpose(loop.ys[0], {1, 0});
  return out;
}

Tensor is_valid_ctc_seq(Tensor logit_paddings_bt, Tensor labels_bn, Tensor label_paddings_bn) {
  const int64_t labels = labels_bn.dim(1);
  const Tensor there = 1.0 - f32(label_paddings_bn);
  const Tensor same = f32(eq(slice_dim(labels_bn, 1, 0, labels - 1), slice_dim(labels_bn, 1, 1, labels)));
  const Tensor repeats = reduce_sum(slice_dim(there, 1, 1, labels) * same, {1});
  const Tensor frames = reduce_sum(1.0 - f32(logit_paddings_bt), {1});
  return f32(le(reduce_sum(there, {1}) + repeats, frames));
}

}  // namespace pax
