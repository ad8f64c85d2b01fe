#pragma once

#include "pax/layers/layer.h"

namespace pax {

// B: batch, L: positions, N: heads, H: dimension of a head, K: clusters.

/// Online k-means of vectors, head by head (praxis ngrammer.VectorQuantization). The centres are not trained: in
/// training they move towards the mean of the vectors nearest to them.
class VectorQuantization final : public Layer {
 public:
  struct Config : LayerConfig {
    using Product = VectorQuantization;
    static constexpr std::string_view kName = "praxis.layers.VectorQuantization";
    static constexpr std::string_view kAliases[] = {"praxis.layers.ngrammer.VectorQuantization"};
    static constexpr std::string_view kDoc = "Online k-means of vectors, head by head.";
    int64_t num_clusters = 0;
    int64_t num_heads = 0;
    double decay = 0.999;
    double epsilon = 1e-6;
    int64_t dim_per_head = 0;
    bool prenormalize = false;
    static void fields(auto& self, auto&& visit) {
      LayerConfig::fields(self, visit);
      visit("num_clusters", self.num_clusters, "K.");
      visit("num_heads", self.num_heads, "N.");
      visit("decay", self.decay, {.doc = "What stays of a centre at each step.", .min = 0.0, .max = 1.0});
      visit("epsilon", self.epsilon, "Added to the number of vectors of a cluster.");
      visit("dim_per_head", self.dim_per_head, "H.");
      visit("prenormalize", self.prenormalize, "Vectors have length 1 first.");
    }
  };
  VectorQuantization(const Config& config, const Scope& scope);

  struct Output {
    Tensor dists;             ///< [B, L, N, K]: squared distances to the centres
    Tensor nearest_centroid;  ///< [B, L, N, H]; 0 at padding
  };
  /// `x` [B, L, N, H] or [B, L, N * H]; `paddings` [B, L] may be null.
  Output quantize(Tensor x, Tensor paddings) const;

 private:
  void move_centres(Tensor x, Tensor nearest) const;

  const Config config_;
  Tensor means_;  ///< [N, K, H], not trained
};
extern template const config::ConfigType& config::type_of<VectorQuantization::Config>();

}  // namespace pax
