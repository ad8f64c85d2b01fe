#include "pax/task/decoding/sample_decoder.h"

#include "pax/base/error.h"
#include "pax/ops/constant.h"
#include "pax/ops/convert.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/gather.h"
#include "pax/ops/logic.h"
#include "pax/ops/random.h"
#include "pax/ops/reduce.h"
#include "pax/ops/reshape.h"
#include "pax/ops/slice.h"
#include "pax/ops/sort.h"
#include "pax/task/decoding/align.h"
#include "pax/task/decoding/state_loop.h"

namespace pax {
namespace {

/// One run of the algorithm. The loop's state: `step`, `output_ids` and `logprobs` [B, S], `done`, `decode_lengths`,
/// `segment_pos` [B], the cache.
class Sampling {
 public:
  Sampling(const DecodeModel& model, const DecoderConfig& config, const SampleOptions& options,
           const DecodeInputs& inputs)
      : model_(model),
        graph_(model.graph()),
        config_(config),
        options_(options),
        inputs_(inputs),
        eos_(config.eos_ids()),
        max_prefix_(inputs.ids_bt.dim(1)) {
    if (config.seqlen <= 0) fail<ConfigError>("decoder_tpl: seqlen is {}; set it to 1 or more", config.seqlen);
    at_once_ = config.fprop_for_prefix;
    steps_ = at_once_ || config.max_decode_steps ? config.decode_steps() : config.seqlen;
    length_ = at_once_ ? max_prefix_ + steps_ : config.seqlen;
    if (!at_once_ && max_prefix_ > length_) {
      fail<ShapeError>("decode: prompts have {} positions, seqlen is {}; make it larger", max_prefix_, length_);
    }
    start_ = at_once_ ? max_prefix_ - 1 : 0;
    lengths_ = repeat_rows(inputs.lengths_b, options.num_samples);
    sampler_inputs_.temperature = options.temperature;
    sampler_inputs_.temperature_b = option("temperature");
    sampler_inputs_.top_p_b = option("per_example_top_p");
    sampler_inputs_.top_k_b = option("per_example_top_k");
  }

  Tree<Tensor> run() {
    const Tree<Tensor> last = loop_while(
        graph_, start(),
        [&](const Tree<Tensor>& state) {
          const Tensor room = lt(state.at("step"), static_cast<double>(std::min(length_ - 1, start_ + steps_)));
          const Tensor all_done = reduce_and(state.at("done"), {0});
          return options_.early_exit ? logical_and(room, logical_not(all_done)) : room;
        },
        [&](Tree<Tensor>& state) { turn(state); });
    return results(last);
  }

 private:
  /// Values of rows that the batch gives, for every sample; null when it does not.
  Tensor option(std::string_view name) const {
    const auto at = inputs_.options.find(name);
    return at == inputs_.options.end() ? Tensor() : repeat_rows(at->second, options_.num_samples);
  }
  int64_t rows() const { return inputs_.ids_bt.dim(0) * options_.num_samples; }
  Tensor per_row(DType dtype, double value) const { return full(graph_, {dtype, {rows()}}, value); }
  Tensor per_position(DType dtype, double value) const { return full(graph_, {dtype, {rows(), length_}}, value); }

  Tree<Tensor> start() {
    Tree<Tensor> state;
    Prompt prompt;
    if (at_once_) {
      prompt = right_aligned(inputs_);
      prefix_ = repeat_rows(prompt.ids_bt, options_.num_samples);
      state["segment_pos"] = lengths_ - 1.0;
    } else {
      // Only to learn what the cache looks like: every position is read by a step.
      prompt.ids_bt = slice_dim(inputs_.ids_bt, 1, 0, 1);
      prompt.paddings_bt = full(graph_, {DType::kF32, prompt.ids_bt.shape()}, 1);
      prefix_ = repeat_rows(inputs_.ids_bt, options_.num_samples);
      state["segment_pos"] = per_row(DType::kS32, 0);
    }
    Tree<Tensor> cache = model_.prefill(prompt);
    add_room(cache, at_once_ ? steps_ : length_ - 1);
    if (!at_once_) forget(cache);
    for (auto& [name, value] : cache) value = repeat_rows(value, options_.num_samples);
    put_cache(state, cache);
    const int64_t known = at_once_ ? max_prefix_ : 1;
    const Tensor ids = convert(slice_dim(prefix_, 1, 0, known), DType::kS32);
    state["output_ids"] = pad_dim(ids, 1, 0, length_ - known);
    state["logprobs"] = per_position(DType::kF32, 1);
    state["done"] = convert(per_row(DType::kS32, 0), DType::kPred);
    state["decode_lengths"] = per_row(DType::kS32, static_cast<double>(length_));
    state["step"] = full(graph_, {DType::kS32, {}}, static_cast<double>(start_));
    Tensor most = option("per_example_max_decode_steps");
    most = most ? minimum(convert(most, DType::kS32), static_cast<double>(steps_))
                : per_row(DType::kS32, static_cast<double>(steps_));
    most_steps_ = most;
    return state;
  }

  void turn(Tree<Tensor>& state) {
    const Tensor step = state.at("step");
    Tree<Tensor> cache = cache_of(state);
    const Tensor logits = model_.step({.ids_b = dynamic_index(state.at("output_ids"), 1, step),
                                       .time_step = step,
                                       .segment_pos_b = state.at("segment_pos"),
                                       .max_length = length_},
                                      cache);
    put_cache(state, cache);

    SamplerInputs draw_from = sampler_inputs_;
    if (options_.sampler.draws(draw_from)) draw_from.random_key = key_of(step);
    const DefaultNextTokenSampler::Draw draw = options_.sampler.draw(logits, draw_from);
    Tensor ids = draw.ids_b;
    const Tensor in_prompt = lt(step, lengths_ - 1.0);  // of rows that are read token by token
    if (!at_once_) {
      const Tensor next = minimum(step + 1.0, static_cast<double>(max_prefix_ - 1));
      ids = select(in_prompt, convert(dynamic_index(prefix_, 1, next), DType::kS32), ids);
    }
    const Tensor was_done = state.at("done");
    ids = select(was_done, full(graph_, {DType::kS32, {}}, 0), ids);
    const Tensor after = step + 1.0;
    state["output_ids"] = write_at(state.at("output_ids"), ids, after);

    Tensor done = logical_or(was_done, is_any_of(ids, eos_));
    Tensor written;  // tokens of a row up to and with this one
    Tensor beyond_prompt;
    if (at_once_) {
      written = lengths_ + (step + static_cast<double>(2 - max_prefix_));
      beyond_prompt = step + static_cast<double>(2 - max_prefix_);
    } else {
      done = select(in_prompt, was_done, done);
      written = step + 2.0;
      beyond_prompt = (step + 2.0) - lengths_;
    }
    done = logical_or(done, ge(beyond_prompt, most_steps_));
    const Tensor just_done = logical_and(done, logical_not(was_done));
    state["decode_lengths"] = select(just_done, written, state.at("decode_lengths"));
    state["done"] = done;

    Tensor logprobs = draw.logprobs_b;
    if (!logprobs) {
      const Tensor all = log_softmax(convert(logits, DType::kF32));
      logprobs = squeeze(take_along(all, expand_dims(ids, 1), 1), {1});
    }
    state["logprobs"] = write_at(state.at("logprobs"), select(was_done, 1.0, logprobs), after);
    state["segment_pos"] = state.at("segment_pos") + 1.0;
    state["step"] = after;
  }

  /// A key of this step; one a row when rows bring their own.
  Tensor key_of(Tensor step) const {
    const auto own = inputs_.options.find("gumbel_prng_key");
    if (own == inputs_.options.end()) return fold_in(model_.random_key(), step);
    Tensor keys = convert(own->second, DType::kU32);
    if (keys.rank() == 1) keys = concatenate({expand_dims(keys, 1), expand_dims(keys, 1)}, 1);
    keys = repeat_rows(keys, options_.num_samples);
    Tensor sample = iota(graph_, {DType::kS32, {inputs_.ids_bt.dim(0), options_.num_samples}}, 1);
    keys = fold_in(keys, merge_dims(sample, 0, 1));
    return fold_in(keys, repeat_scalar(step));
  }
  Tensor repeat_scalar(Tensor x) const { return x + per_row(x.dtype(), 0); }

  Tree<Tensor> results(const Tree<Tensor>& last) const {
    Tree<Tensor> out;
    const auto aligned = [&](Tensor x) { return at_once_ ? left_align(x, lengths_, max_prefix_) : x; };
    out["output_ids"] = aligned(last.at("output_ids"));
    out["logprobs"] = aligned(last.at("logprobs"));
    out["decode_lengths"] = last.at("decode_lengths");
    out["prefix_lengths"] = lengths_;
    const Tensor paddings = repeat_rows(inputs_.paddings_bt, options_.num_samples);
    out["original_lengths"] = convert(reduce_sum(1.0 - convert(paddings, DType::kF32), {1}), DType::kS32);
    const Tensor prefix = without_tail(repeat_rows(inputs_.ids_bt, options_.num_samples), lengths_);
    out["prefix_ids"] = at_once_ ? pad_dim(prefix, 1, 0, steps_) : prefix;
    for (auto& [name, value] : out) value = split_samples(value, options_.num_samples);
    if (options_.num_samples == 1 || !options_.sort_samples) return out;

    const Tensor logprobs = out.at("logprobs");
    const Tensor scores = reduce_sum(select(ge(logprobs, 1.0), 0.0, logprobs), {2});
    const Tensor order = top_k(scores, options_.num_samples).second;
    for (auto& [name, value] : out) {
      value = take_along(value, value.rank() == 3 ? expand_dims(order, 2) : order, 1);
    }
    return out;
  }

  const DecodeModel& model_;
  Graph& graph_;
  const DecoderConfig& config_;
  const SampleOptions& options_;
  const DecodeInputs& inputs_;
  const std::vector<int64_t> eos_;
  const int64_t max_prefix_;
  bool at_once_ = false;  // The prompt is read by one forward pass.
  int64_t steps_ = 0, length_ = 0, start_ = 0;
  Tensor lengths_, prefix_, most_steps_;
  SamplerInputs sampler_inputs_;
};

}  // namespace

Tree<Tensor> sample_decode(const DecodeModel& model, const DecoderConfig& config, const SampleOptions& options,
                           const DecodeInputs& inputs) {
  return Sampling(model, config, options, inputs).run();
}

Tree<Tensor> GreedyDecoder::decode(const DecodeModel& model, const DecodeInputs& inputs) const {
  SampleOptions options;
  options.sampler.top_k = 1;
  return sample_decode(model, config_, options, inputs);
}

Tree<Tensor> SampleDecoder::decode(const DecodeModel& model, const DecodeInputs& inputs) const {
  if (!config_.cf_guidance_scale.is_null() || !config_.controlled_decoding.is_null() ||
      !config_.sample_constraint.is_null() || config_.optimize_eos) {
    fail<ConfigError>(
        "decoder_tpl: cf_guidance_scale, controlled_decoding, sample_constraint and optimize_eos are not supported; "
        "leave them out");
  }
  SampleOptions options{.sampler = config_.next_token_sampler_tpl,
                        .temperature = config_.temperature,
                        .num_samples = config_.num_samples,
                        .sort_samples = config_.sort_samples.value_or(false),
                        .early_exit = config_.early_exit};
  if (config_.override_next_token_sampler_params) {
    options.sampler.top_k = config_.k;
    options.sampler.top_p = config_.p;
    options.sampler.global_normalize = config_.global_normalize;
    options.sampler.top_k_recall_target = config_.top_k_recall_target;
    options.sampler.use_top_k_for_logprobs = config_.use_top_k_for_logprobs;
  }
  return sample_decode(model, config_, options, inputs);
}

template const config::ConfigType& config::type_of<GreedyDecoder::Config>();
template const config::ConfigType& config::type_of<SampleDecoder::Config>();

}  // namespace pax
