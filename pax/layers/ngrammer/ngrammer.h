#pragma once

#include "pax/layers/embedding.h"
#include "pax/layers/ngrammer/vector_quantization.h"
#include "pax/layers/normalizations.h"

namespace pax {

// B: batch, L: positions, N: heads, H: dimension of a head, D: N * H.

/// Each position's id paired with the one before it, ids + before * vocab_size, as i32 [B, L]. Nothing stands before
/// the first position, nor before positions 0 of `segment_pos` (may be null).
Tensor bigram_ids(Tensor ids_bl, int64_t vocab_size, Tensor segment_pos_bl);

struct NgrammerInputs {
  Tensor ids;             ///< [B, L], or [B, L, N] with ids of each head
  Tensor embs;            ///< [B, L, D] or [B, L, N, H]
  Tensor paddings_bl;     ///< may be null
  Tensor segment_pos_bl;  ///< may be null
};

/// Adds embeddings of pairs of neighbours to embeddings.
class BaseNgrammer : public Layer {
 public:
  using Interface = BaseNgrammer;
  using Layer::fprop;
  using Layer::Layer;
  /// [B, L, D].
  virtual Tensor fprop(const NgrammerInputs& inputs) const = 0;
};

/// Pairs of ids, hashed into one table a head (praxis ngrammer.Ngrammer; Roy et al. 2022).
class Ngrammer final : public BaseNgrammer {
 public:
  struct Config : LayerConfig {
    using Product = Ngrammer;
    static constexpr std::string_view kName = "praxis.layers.Ngrammer";
    static constexpr std::string_view kAliases[] = {"praxis.layers.ngrammer.Ngrammer"};
    static constexpr std::string_view kDoc = "Adds embeddings of pairs of ids.";
    int64_t ngram_vocab_size = 768 * 256;
    int64_t unigram_vocab_size = 0;
    int64_t ngram_emb_dim = 8;
    bool concat_ngrams = true;
    int64_t num_heads = 0;
    int64_t dim_per_head = 0;
    static void fields(auto& self, auto&& visit) {
      LayerConfig::fields(self, visit);
      visit("ngram_vocab_size", self.ngram_vocab_size, "Rows of each table.");
      visit("unigram_vocab_size", self.unigram_vocab_size, "Ids are smaller than this.");
      visit("ngram_emb_dim", self.ngram_emb_dim, "Size of a pair's embedding in a head.");
      visit("concat_ngrams", self.concat_ngrams, "It takes the place of the end of the embedding; else it is added.");
      visit("num_heads", self.num_heads, "N.");
      visit("dim_per_head", self.dim_per_head, "H.");
    }
  };
  Ngrammer(const Config& config, const Scope& scope);
  using BaseNgrammer::fprop;
  Tensor fprop(const NgrammerInputs& inputs) const override;

 private:
  Tensor pair_embedding(Tensor ids_bl, Tensor segment_pos, size_t head) const;

  const Config config_;
  std::vector<int64_t> primes_;
  std::vector<Child<Layer>> emb_layer_norm_, ngram_layer_norm_;
  std::vector<Child<Embedding>> ngram_table_;
};
extern template const config::ConfigType& config::type_of<Ngrammer::Config>();

/// Pairs of the clusters of the embeddings (praxis ngrammer.VQNgrammer).
class VQNgrammer final : public BaseNgrammer {
 public:
  struct Config : LayerConfig {
    using Product = VQNgrammer;
    static constexpr std::string_view kName = "praxis.layers.VQNgrammer";
    static constexpr std::string_view kAliases[] = {"praxis.layers.ngrammer.VQNgrammer"};
    static constexpr std::string_view kDoc = "Adds embeddings of pairs of clusters.";
    int64_t ngram_vocab_size = 768 * 256;
    int64_t unigram_vocab_size = 0;
    int64_t ngram_emb_dim = 8;
    bool ngram_using_attention_scores = false;
    bool causal_attention = true;
    bool concat_ngrams = false;
    int64_t num_clusters = 0;
    int64_t num_heads = 0;
    double decay = 0.999;
    double epsilon = 1e-6;
    int64_t dim_per_head = 0;
    bool use_cached_input_ids_to_cluster_ids = false;
    bool enable_cache_updates = true;
    int64_t full_update_cache_frequency = 0;
    std::vector<int64_t> full_update_cache_steps;
    bool prenormalize = false;
    static void fields(auto& self, auto&& visit) {
      LayerConfig::fields(self, visit);
      visit("ngram_vocab_size", self.ngram_vocab_size, "Rows of each table.");
      visit("unigram_vocab_size", self.unigram_vocab_size, "Ids of which the last cluster is remembered; 0: none.");
      visit("ngram_emb_dim", self.ngram_emb_dim, "Size of a pair's embedding in a head.");
      visit("ngram_using_attention_scores", self.ngram_using_attention_scores, "Not supported.");
      visit("causal_attention", self.causal_attention);
      visit("concat_ngrams", self.concat_ngrams, "It takes the place of the end of the embedding; else it is added.");
      visit("num_clusters", self.num_clusters);
      visit("num_heads", self.num_heads, "N.");
      visit("decay", self.decay, "See VectorQuantization.");
      visit("epsilon", self.epsilon, "See VectorQuantization.");
      visit("dim_per_head", self.dim_per_head, "H.");
      visit("use_cached_input_ids_to_cluster_ids", self.use_cached_input_ids_to_cluster_ids,
            "In evaluation, clusters are the remembered ones of the ids.");
      visit("enable_cache_updates", self.enable_cache_updates, "Training remembers clusters of ids.");
      visit("full_update_cache_frequency", self.full_update_cache_frequency, "Not supported.");
      visit("full_update_cache_steps", self.full_update_cache_steps, "Not supported.");
      visit("prenormalize", self.prenormalize, "See VectorQuantization.");
    }
  };
  VQNgrammer(const Config& config, const Scope& scope);
  using BaseNgrammer::fprop;
  Tensor fprop(const NgrammerInputs& inputs) const override;

 private:
  Tensor clusters(const NgrammerInputs& inputs) const;
  void remember(Tensor ids, Tensor clusters) const;

  const Config config_;
  Child<VectorQuantization> vq_layer_;
  Child<Ngrammer> ngram_layer_;
  Tensor input_id_to_cluster_id_cache_;  ///< i32 [unigram_vocab_size, N], not trained; null without
};
extern template const config::ConfigType& config::type_of<VQNgrammer::Config>();

}  // namespace pax
