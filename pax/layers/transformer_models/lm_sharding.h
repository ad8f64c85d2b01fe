#pragma once

#include "pax/layers/split_dims.h"

namespace pax {

/// Names of the mesh axes that a model is split over; an empty one is not used.
struct MeshAxes {
  std::string replica = "replica";
  std::string data = "data";
  std::string data_expert;  ///< of experts, beside `data`
  std::string mdl = "mdl";
  std::string seq;                      ///< of sequence positions
  std::vector<std::string> batch_axes;  ///< of the batch; empty: replica, data and data_expert
};

/// What sharding is made for: little memory between forward and backward pass, or little communication.
enum class OptimizedFor : uint8_t { kTraining, kInference };

/// How the weights (w) and activations (a) of a Transformer are split, by the letters of their dimensions: d model,
/// f hidden, n heads, h head, e experts, m model (in experts), v vocabulary, b batch, l position, g group, c capacity.
/// An empty one says nothing.
struct TransformerSharding {
  Axes w_df, w_dnh, w_emh, w_vd;
  Axes a_bld, a_blf, a_blh, a_blnh, a_blv, a_egch, a_egcm, a_bd, a_bf, a_bv;
  /// Axes over which groups of tokens are split in the dispatch to experts; empty: those of a_egch.
  std::vector<std::string> expert_groups;
};

/// Pax's usual recipe (TransformerLm.set_sharding_params_v1, or …_with_expert_parallelism when there is a
/// `data_expert` axis): weights over data and mdl, the batch over replica and data.
TransformerSharding sharding_v1(const MeshAxes& axes, OptimizedFor use);

/// Writes the splits into the templates of a TransformerLm or TransformerEncoderDecoder config (praxis
/// set_custom_sharding_params). Embeddings are looked up by product from now on, which splits well.
void set_sharding(config::AnyTpl& model, const TransformerSharding& sharding);

}  // namespace pax
