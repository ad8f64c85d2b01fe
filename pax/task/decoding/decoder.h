#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "pax/config/config.h"
#include "pax/task/decoding/decode_model.h"

namespace pax {

/// One number or several.
using OneOrMore = std::variant<int64_t, std::vector<int64_t>>;

/// What all decoders are told (praxis decoder_hparams.DecoderHParams).
struct DecoderConfig {
  int64_t seqlen = 0;
  int64_t min_prefix_len = 5;
  OneOrMore eos_id = int64_t{2};
  int64_t min_decode_steps = 0;
  std::optional<OneOrMore> max_decode_steps;
  bool fprop_for_prefix = false;
  bool lazy_prefix_broadcast = false;
  std::optional<std::map<std::string, std::string>> decode_loop_mesh_axes_transpose;
  config::Value process_result_fn;
  std::string emb_lookup_style = "matmul";
  bool use_extra_input_kwargs = false;
  int64_t num_cache_slots = 0;
  config::Value precompute_kv_cache_prefix_ids;
  static void fields(auto& self, auto&& visit) {
    visit("seqlen", self.seqlen, {.doc = "Length of an output row, prompt included.", .min = 0});
    visit("min_prefix_len", self.min_prefix_len);
    visit("eos_id", self.eos_id, "Ids that end a row.");
    visit("min_decode_steps", self.min_decode_steps,
          {.doc = "Tokens before an end is allowed (beam search).", .min = 0});
    visit("max_decode_steps", self.max_decode_steps, "Tokens after the prompt; unset: up to seqlen.");
    visit("fprop_for_prefix", self.fprop_for_prefix, "Read the prompt at once instead of token by token.");
    visit("lazy_prefix_broadcast", self.lazy_prefix_broadcast);
    visit("decode_loop_mesh_axes_transpose", self.decode_loop_mesh_axes_transpose);
    visit("process_result_fn", self.process_result_fn);
    visit("emb_lookup_style", self.emb_lookup_style);
    visit("use_extra_input_kwargs", self.use_extra_input_kwargs);
    visit("num_cache_slots", self.num_cache_slots);
    visit("precompute_kv_cache_prefix_ids", self.precompute_kv_cache_prefix_ids);
  }

  std::vector<int64_t> eos_ids() const;
  /// The largest of max_decode_steps. Throws ConfigError when it is not set.
  int64_t decode_steps() const;
};

/// Prompts as the input has them: left aligned.
struct DecodeInputs {
  Tensor ids_bt;
  Tensor paddings_bt;    ///< 1 at padding
  Tensor lengths_b;      ///< i32: of the prompts
  Tensor causal_bt;      ///< 0 in a prefix that all may see; null: causal everywhere
  Tree<Tensor> options;  ///< per row, as the batch names them: `temperature`, `per_example_max_decode_steps`, …
};

/// A way to write on from prompts (praxis decode algorithms). Results by their Praxis names, [B, samples, …]:
/// `output_ids` (left aligned, prompt included), `decode_lengths`, `logprobs` (1 where unused), `prefix_lengths`,
/// `original_lengths`, `prefix_ids`, for beams `scores`.
class Decoder {
 public:
  using Kind = Decoder;
  virtual ~Decoder() = default;
  /// Throws ConfigError and ShapeError when the config does not fit the prompts.
  virtual Tree<Tensor> decode(const DecodeModel& model, const DecodeInputs& inputs) const = 0;
};

}  // namespace pax
