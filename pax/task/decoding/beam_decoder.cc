#include "pax/task/decoding/beam_decoder.h"

#include "pax/base/error.h"
#include "pax/ops/broadcast.h"
#include "pax/ops/constant.h"
#include "pax/ops/convert.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/gather.h"
#include "pax/ops/logic.h"
#include "pax/ops/reduce.h"
#include "pax/ops/reshape.h"
#include "pax/ops/slice.h"
#include "pax/ops/sort.h"
#include "pax/task/decoding/align.h"
#include "pax/task/decoding/state_loop.h"

namespace pax {
namespace {

/// `x` [B, K, …] with beam `order[b, j]` (i32 [B, J]) in place j.
Tensor beams_in_order(Tensor x, Tensor order) {
  while (order.rank() < x.rank()) order = expand_dims(order, -1);
  return take_along(x, order, 1);
}

/// One run of the algorithm. The loop's state, with K beams a row: `output_ids` and `logprobs` [B, K, S] and
/// `hyp_scores` [B, K] of the beams that go on; `end_…` the same of the best that have ended, scores normalised.
class BeamSearch {
 public:
  BeamSearch(const DecodeModel& model, const BeamDecoder::Config& config, const DecodeInputs& inputs)
      : model_(model),
        graph_(model.graph()),
        config_(config),
        inputs_(inputs),
        eos_(config.eos_ids()),
        beams_(config.beam_size),
        tokens_(config.tokens_per_beam.value_or(config.beam_size)),
        rows_(inputs.ids_bt.dim(0)),
        max_prefix_(inputs.ids_bt.dim(1)),
        steps_(config.decode_steps()),
        length_(max_prefix_ + steps_) {
    if (!config.fprop_for_prefix) fail<ConfigError>("decoder_tpl: beam search needs fprop_for_prefix; set it");
    lengths_ = broadcast_to(expand_dims(inputs.lengths_b, 1), {rows_, beams_});
  }

  Tree<Tensor> run() {
    const Tree<Tensor> last = loop_while(
        graph_, start(),
        [&](const Tree<Tensor>& state) {
          const Tensor room = lt(state.at("step"), static_cast<double>(length_ - 1));
          if (!config_.early_exit) return room;
          return logical_and(room, logical_not(reduce_and(state.at("done"), {0, 1})));
        },
        [&](Tree<Tensor>& state) { turn(state); });
    return results(last);
  }

 private:
  Tensor per_beam(double value) const { return full(graph_, {DType::kF32, {rows_, beams_}}, value); }

  Tree<Tensor> start() {
    const Prompt prompt = right_aligned(inputs_);
    Tree<Tensor> state;
    Tree<Tensor> cache = model_.prefill(prompt);
    add_room(cache, steps_);
    for (auto& [name, value] : cache) value = repeat_rows(value, beams_);
    put_cache(state, cache);
    const Tensor ids = convert(prompt.ids_bt, DType::kS32);
    state["output_ids"] =
        pad_dim(broadcast_to(expand_dims(ids, 1), {rows_, beams_, max_prefix_}), 2, 0, length_ - max_prefix_);
    state["end_ids"] = state.at("output_ids");
    state["logprobs"] = full(graph_, {DType::kF32, {rows_, beams_, length_}}, 1);
    state["end_logprobs"] = full(graph_, {DType::kF32, {rows_, beams_, length_}}, 0);
    state["end_scores"] = per_beam(-1e9);
    // Only the first beam counts at the start: all are the prompt.
    state["hyp_scores"] = iota(graph_, {DType::kF32, {rows_, beams_}}, 1) * -1e9;
    state["done"] = convert(full(graph_, {DType::kS32, {rows_, beams_}}, 0), DType::kPred);
    state["hyp_ids"] = full(graph_, {DType::kS32, {rows_, beams_}}, 0);
    state["end_lengths"] = full(graph_, {DType::kS32, {rows_, beams_}}, static_cast<double>(length_));
    state["segment_pos"] = merge_dims(lengths_, 0, 1) - 1.0;
    state["step"] = full(graph_, {DType::kS32, {}}, static_cast<double>(max_prefix_ - 1));
    return state;
  }

  /// [B, K, V].
  Tensor next_logprobs(Tree<Tensor>& state) {
    const Tensor step = state.at("step");
    Tree<Tensor> cache = cache_of(state);
    const Tensor logits = model_.step({.ids_b = merge_dims(dynamic_index(state.at("output_ids"), 2, step), 0, 1),
                                       .time_step = step,
                                       .segment_pos_b = state.at("segment_pos"),
                                       .max_length = length_},
                                      cache);
    put_cache(state, cache);
    const Tensor logprobs = split_samples(log_softmax(convert(logits, DType::kF32)), beams_);
    if (config_.min_decode_steps <= 0) return logprobs;
    const Tensor id = iota(graph_, {DType::kS32, {1, 1, logprobs.dim(2)}}, 2);
    const Tensor too_early = lt(step, static_cast<double>(max_prefix_ - 1 + config_.min_decode_steps));
    return select(logical_and(is_any_of(id, eos_), too_early), -1e20, logprobs);
  }

  /// Ends every beam here and keeps the best of those that have ended so far.
  void end_beams(Tree<Tensor>& state, Tensor logprobs) {
    const Tensor after = state.at("step") + 1.0;
    Tensor best = per_beam(-1e9), best_id, best_logprob;
    for (const int64_t id : eos_) {
      const Tensor logprob = index_dim(logprobs, 2, id);
      const Tensor score = state.at("hyp_scores") + logprob;
      const Tensor better = gt(score, best);
      const Tensor this_id = full(graph_, {DType::kS32, {rows_, beams_}}, static_cast<double>(id));
      best_id = select(better, this_id, best_id ? best_id : dynamic_index(state.at("output_ids"), 2, after));
      best_logprob =
          select(better, logprob, best_logprob ? best_logprob : dynamic_index(state.at("logprobs"), 2, after));
      best = maximum(best, score);
    }
    const Tensor written = state.at("step") + static_cast<double>(2 - max_prefix_);
    const Tensor norm = power((convert(written, DType::kF32) + 5.0) / 5.0, config_.length_norm_alpha);
    const auto both = [&](std::string_view kept, Tensor ended) {
      return concatenate({state.find(kept)->second, ended}, 1);
    };
    const auto [scores, order] = top_k(both("end_scores", best / norm), beams_);
    state["end_ids"] = beams_in_order(both("end_ids", write_at(state.at("output_ids"), best_id, after)), order);
    state["end_logprobs"] =
        beams_in_order(both("end_logprobs", write_at(state.at("logprobs"), best_logprob, after)), order);
    state["end_lengths"] = beams_in_order(both("end_lengths", lengths_ + written), order);
    state["end_scores"] = scores;
  }

  void turn(Tree<Tensor>& state) {
    const Tensor logprobs = next_logprobs(state);
    end_beams(state, logprobs);

    // The best tokens of each beam, then the best of all of a row.
    auto [values, ids] = top_k(logprobs, tokens_);
    values = values + expand_dims(state.at("hyp_scores"), -1);
    if (!config_.early_exit) values = values - convert(is_any_of(ids, eos_), DType::kF32) * 1e9;
    const auto [scores, places] = top_k(merge_dims(values, 1, 2), beams_);
    const Tensor beam = places / full(graph_, {DType::kS32, {}}, static_cast<double>(tokens_));
    const Tensor new_ids = take_along(merge_dims(ids, 1, 2), places, 1);
    const Tensor new_logprobs = squeeze(take_along(beams_in_order(logprobs, beam), expand_dims(new_ids, 2), 2), {2});

    Tree<Tensor> cache = cache_of(state);
    for (auto& [name, value] : cache) value = merge_dims(beams_in_order(split_samples(value, beams_), beam), 0, 1);
    put_cache(state, cache);
    const Tensor after = state.at("step") + 1.0;
    const Tensor written_ids = new_ids + static_cast<double>(config_.output_id_offset);
    state["output_ids"] = write_at(beams_in_order(state.at("output_ids"), beam), written_ids, after);
    state["logprobs"] = write_at(beams_in_order(state.at("logprobs"), beam), new_logprobs, after);
    state["done"] = logical_or(beams_in_order(state.at("done"), beam), is_any_of(written_ids, eos_));
    state["hyp_scores"] = scores;
    state["hyp_ids"] = beam;
    state["segment_pos"] = state.at("segment_pos") + 1.0;
    state["step"] = after;
  }

  Tree<Tensor> results(const Tree<Tensor>& last) const {
    const Tensor lengths = merge_dims(lengths_, 0, 1);
    const auto aligned = [&](Tensor x) {
      return split_samples(left_align(merge_dims(x, 0, 1), lengths, max_prefix_), beams_);
    };
    Tree<Tensor> out;
    out["output_ids"] = aligned(last.at("end_ids"));
    out["logprobs"] = aligned(last.at("end_logprobs"));
    out["scores"] = last.at("end_scores");
    // As the loop leaves them, for those who look into it.
    for (const char* name : {"end_logprobs", "hyp_ids", "segment_pos", "done"}) out[name] = last.at(name);
    out["decode_lengths"] = last.at("end_lengths");
    out["prefix_lengths"] = lengths_;
    out["original_lengths"] = lengths_;
    out["prefix_ids"] = expand_dims(without_tail(inputs_.ids_bt, inputs_.lengths_b), 1);
    return out;
  }

  const DecodeModel& model_;
  Graph& graph_;
  const BeamDecoder::Config& config_;
  const DecodeInputs& inputs_;
  const std::vector<int64_t> eos_;
  const int64_t beams_, tokens_, rows_, max_prefix_, steps_, length_;
  Tensor lengths_;  // [B, K]
};

}  // namespace

Tree<Tensor> BeamDecoder::decode(const DecodeModel& model, const DecodeInputs& inputs) const {
  return BeamSearch(model, config_, inputs).run();
}

template const config::ConfigType& config::type_of<BeamDecoder::Config>();

}  // namespace pax
