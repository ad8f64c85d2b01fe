#include "pax/layers/ngrammer/ngrammer.h"

#include <fmt/format.h>

#include "pax/base/error.h"
#include "pax/ops/constant.h"
#include "pax/ops/convert.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/gather.h"
#include "pax/ops/logic.h"
#include "pax/ops/reduce.h"
#include "pax/ops/reshape.h"
#include "pax/ops/slice.h"

namespace pax {
namespace {

bool is_prime(int64_t n) {
  for (int64_t d = 2; d * d <= n; ++d) {
    if (n % d == 0) return false;
  }
  return n > 1;
}

/// The first `count` primes above `above` and below twice of it.
std::vector<int64_t> primes(int64_t above, int64_t count, const Scope& scope) {
  std::vector<int64_t> found;
  for (int64_t n = above + 1; n < 2 * above && static_cast<int64_t>(found.size()) < count; ++n) {
    if (is_prime(n)) found.push_back(n);
  }
  if (static_cast<int64_t>(found.size()) < count) {
    fail<ConfigError>("{}: ngram_vocab_size is {}, too small for {} heads to have hashes of their own", scope.path(),
                      above, count);
  }
  return found;
}

/// a mod n in [0, n), as Python's; `a` is i32.
Tensor modulo(Tensor a, int64_t n) {
  const Tensor by = full_like(a, static_cast<double>(n));
  return remainder(remainder(a, by) + by, by);
}

}  // namespace

Tensor bigram_ids(Tensor ids_bl, int64_t vocab_size, Tensor segment_pos_bl) {
  const Tensor ids = convert(ids_bl, DType::kS32);
  Tensor before = slice_dim(pad_dim(ids, 1, 1, 0), 1, 0, ids.dim(1));
  if (segment_pos_bl) before = select(ne(segment_pos_bl, 0.0), before, 0.0);
  return ids + before * full_like(before, static_cast<double>(vocab_size));
}

Ngrammer::Ngrammer(const Config& config, const Scope& scope) : BaseNgrammer(config, scope), config_(config) {
  const int64_t wide = config.dim_per_head, narrow = config.ngram_emb_dim;
  if (config.num_heads < 1 || config.unigram_vocab_size < 1) {
    pax::fail<ConfigError>("{}: num_heads is {} and unigram_vocab_size {}; set both to 1 or more", scope.path(),
                           config.num_heads, config.unigram_vocab_size);
  }
  if (config.concat_ngrams ? narrow > wide : narrow != wide) {
    pax::fail<ConfigError>("{}: ngram_emb_dim is {} and dim_per_head {}; it must be {}", scope.path(), narrow, wide,
                           config.concat_ngrams ? "at most as large" : "as large, unless concat_ngrams is true");
  }
  primes_ = primes(config.ngram_vocab_size, config.num_heads, this->scope());
  LayerNorm::Config emb_norm, ngram_norm;
  emb_norm.dim = wide;
  ngram_norm.dim = narrow;
  Embedding::Config table;
  table.num_classes = config.ngram_vocab_size;
  table.input_dims = narrow;
  table.weight_split_dims_mapping = config.weight_split_dims_mapping;
  for (int64_t i = 0; i < config.num_heads; ++i) {
    emb_layer_norm_.push_back(child(fmt::format("emb_layer_norm_{}", i), Tpl<Layer>(emb_norm)));
    ngram_layer_norm_.push_back(child(fmt::format("ngram_layer_norm_{}", i), Tpl<Layer>(ngram_norm)));
    ngram_table_.push_back(child(fmt::format("ngram_table_{}", i), table));
  }
}

Tensor Ngrammer::pair_embedding(Tensor ids_bl, Tensor segment_pos, size_t head) const {
  const Tensor pairs = bigram_ids(ids_bl, config_.unigram_vocab_size, segment_pos);
  const Tensor factor = full_like(pairs, static_cast<double>(head + 1));
  const Tensor hashed = modulo(modulo(pairs * factor + factor, primes_[head]), config_.ngram_vocab_size);
  const Tensor emb = ngram_table_[head]->fprop(hashed);
  return ngram_layer_norm_[head]->fprop(emb);
}

Tensor Ngrammer::fprop(const NgrammerInputs& inputs) const {
  const int64_t heads = config_.num_heads, wide = config_.dim_per_head;
  const int64_t batch = inputs.ids.dim(0), length = inputs.ids.dim(1);
  const Tensor embs = reshape(convert(inputs.embs, fprop_dtype()), {batch, length, heads, wide});
  std::vector<Tensor> results;
  for (int64_t i = 0; i < heads; ++i) {
    const auto head = static_cast<size_t>(i);
    const Tensor ids = inputs.ids.rank() == 2 ? inputs.ids : index_dim(inputs.ids, 2, i);
    const Tensor pair = pair_embedding(ids, inputs.segment_pos_bl, head);
    const Tensor own = emb_layer_norm_[head]->fprop(index_dim(embs, 2, i));
    Tensor both =
        config_.concat_ngrams ? concatenate({slice_dim(own, 2, 0, wide - config_.ngram_emb_dim), pair}, 2) : own + pair;
    if (inputs.paddings_bl) both = both * expand_dims(1.0 - convert(inputs.paddings_bl, both.dtype()), -1);
    results.push_back(both);
  }
  return concatenate(results, 2);
}

VQNgrammer::VQNgrammer(const Config& config, const Scope& scope) : BaseNgrammer(config, scope), config_(config) {
  if (config.ngram_using_attention_scores || config.full_update_cache_frequency != 0 ||
      !config.full_update_cache_steps.empty()) {
    pax::fail<ConfigError>(
        "{}: ngram_using_attention_scores, full_update_cache_frequency and full_update_cache_steps are not supported; "
        "leave them out",
        scope.path());
  }
  VectorQuantization::Config vq;
  vq.num_clusters = config.num_clusters;
  vq.num_heads = config.num_heads;
  vq.dim_per_head = config.dim_per_head;
  vq.decay = config.decay;
  vq.epsilon = config.epsilon;
  vq.prenormalize = config.prenormalize;
  vq_layer_ = child("vq_layer", vq);
  if (config.unigram_vocab_size > 0) {
    input_id_to_cluster_id_cache_ =
        param("input_id_to_cluster_id_cache", {.shape = {config.unigram_vocab_size, config.num_heads},
                                               .init = WeightInit::constant(0.0),
                                               .dtype = DType::kS32,
                                               .collection = Collection::kNonTrainable});
  }
  Ngrammer::Config ngram;
  ngram.ngram_vocab_size = config.ngram_vocab_size;
  ngram.unigram_vocab_size = config.num_clusters;
  ngram.ngram_emb_dim = config.ngram_emb_dim;
  ngram.concat_ngrams = config.concat_ngrams;
  ngram.num_heads = config.num_heads;
  ngram.dim_per_head = config.dim_per_head;
  ngram.weight_split_dims_mapping = config.weight_split_dims_mapping;
  ngram_layer_ = child("ngram_layer", ngram);
}

Tensor VQNgrammer::clusters(const NgrammerInputs& inputs) const {
  if (config_.use_cached_input_ids_to_cluster_ids) {
    if (!do_eval() || !input_id_to_cluster_id_cache_ || !inputs.ids) {
      fail("remembered clusters are for evaluation, need unigram_vocab_size, and ids");
    }
    return take(input_id_to_cluster_id_cache_, inputs.ids, 0);
  }
  const Tensor found = argmin(vq_layer_->quantize(inputs.embs, inputs.paddings_bl).dists, 3);
  if (!do_eval() && input_id_to_cluster_id_cache_ && inputs.ids && config_.enable_cache_updates) {
    remember(inputs.ids, found);
  }
  return found;
}

void VQNgrammer::remember(Tensor ids, Tensor clusters) const {
  const int64_t places = ids.shape().num_elements();
  const Tensor flat_ids = reshape(ids, {places});
  const Tensor flat_clusters = reshape(convert(clusters, DType::kS32), {places, config_.num_heads});
  const Tensor next = scatter_at(input_id_to_cluster_id_cache_, flat_ids, flat_clusters, 0, Scatter::kReplace);
  scope().update("input_id_to_cluster_id_cache", next);
}

Tensor VQNgrammer::fprop(const NgrammerInputs& inputs) const {
  NgrammerInputs of_clusters = inputs;
  of_clusters.ids = clusters(inputs);
  return ngram_layer_->fprop(of_clusters);
}

template const config::ConfigType& config::type_of<Ngrammer::Config>();
template const config::ConfigType& config::type_of<VQNgrammer::Config>();

}  // namespace pax
