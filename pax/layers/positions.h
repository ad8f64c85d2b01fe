#pragma once

#include "pax/layers/base_ops.h"

namespace pax {

// B: batch, T: positions, D: embedding, N: heads, H: dimension of a head.

/// What is added to embeddings so that positions differ.
class BasePositionalEmbedding : public Layer {
 public:
  using Interface = BasePositionalEmbedding;
  using Layer::Layer;

  /// [B, T, D] of the positions in `position_bt` (integers or floats), or [1, T, D] of 0, 1, ..., T - 1 when that is
  /// null; `seq_length` is T, and may be left out when `position_bt` says it.
  virtual Tensor embed(std::optional<int64_t> seq_length, Tensor position_bt) const = 0;

 protected:
  /// `position_bt`, or 0, 1, ... [1, T]. Throws ShapeError when neither is given, or of another rank.
  Tensor positions(std::optional<int64_t> seq_length, Tensor position_bt) const;
};

/// Sinusoids of geometrically spaced frequencies: all sines, then all cosines, then a 0 if D is odd
/// (praxis embedding_softmax.PositionalEmbedding; Vaswani et al. 2017).
class PositionalEmbedding final : public BasePositionalEmbedding {
 public:
  struct Config : LayerConfig {
    using Product = PositionalEmbedding;
    static constexpr std::string_view kName = "praxis.layers.PositionalEmbedding";
    static constexpr std::string_view kAliases[] = {"praxis.layers.embedding_softmax.PositionalEmbedding"};
    static constexpr std::string_view kDoc = "Sinusoids of the position.";
    int64_t min_timescale = 1;
    int64_t max_timescale = 10'000;
    int64_t embedding_dims = 0;
    static void fields(auto& self, auto&& visit) {
      LayerConfig::fields(self, visit);
      visit("min_timescale", self.min_timescale, "The highest frequency.");
      visit("max_timescale", self.max_timescale, "The lowest frequency is min_timescale^2 over this.");
      visit("embedding_dims", self.embedding_dims, "Size of the embedding.");
    }
  };
  PositionalEmbedding(const Config& config, const Scope& scope);
  Tensor embed(std::optional<int64_t> seq_length, Tensor position_bt) const override;

 private:
  const Config config_;
};
extern template const config::ConfigType& config::type_of<PositionalEmbedding::Config>();

/// A trained vector for each position (praxis embedding_softmax.TrainablePositionalEmbedding).
class TrainablePositionalEmbedding final : public BasePositionalEmbedding {
 public:
  struct Config : LayerConfig {
    using Product = TrainablePositionalEmbedding;
    static constexpr std::string_view kName = "praxis.layers.TrainablePositionalEmbedding";
    static constexpr std::string_view kAliases[] = {"praxis.layers.embedding_softmax.TrainablePositionalEmbedding"};
    static constexpr std::string_view kDoc = "A trained vector for each position.";
    int64_t min_timescale = 1;
    int64_t max_timescale = 10'000;
    int64_t embedding_dims = 0;
    int64_t max_seq_length = 10'240;
    LookupStyle lookup_style = LookupStyle::kMatmul;
    Tpl<ArrayLookup> array_lookup_tpl = ArrayLookup::Config{};
    Tpl<EinsumOp> einsum_tpl = EinsumOp::Config{};
    static void fields(auto& self, auto&& visit) {
      LayerConfig::fields(self, visit);
      visit("min_timescale", self.min_timescale, "Not used.");
      visit("max_timescale", self.max_timescale, "Not used.");
      visit("embedding_dims", self.embedding_dims, "Size of the embedding.");
      visit("max_seq_length", self.max_seq_length, "Number of positions that have a vector.");
      visit("lookup_style", self.lookup_style, "By product with a one-hot matrix, or by index.");
      visit("array_lookup_tpl", self.array_lookup_tpl, "What looks up, by index.");
      visit("einsum_tpl", self.einsum_tpl, "What multiplies, by product.");
    }
  };
  TrainablePositionalEmbedding(const Config& config, const Scope& scope);
  Tensor embed(std::optional<int64_t> seq_length, Tensor position_bt) const override;

 private:
  const LookupStyle lookup_style_;
  Tensor emb_var_;  ///< [max_seq_length, D]
  Child<ArrayLookup> array_lookup_;
  Child<EinsumOp> einsum_;
};
extern template const config::ConfigType& config::type_of<TrainablePositionalEmbedding::Config>();

/// Sinusoids of the row and the column of image patches, half of the embedding each, with zeros for class tokens
/// (praxis embedding_softmax.PositionalEmbedding2D; Dosovitskiy et al. 2021, D4): [1, tokens + h w + tokens, D].
class PositionalEmbedding2D final : public BasePositionalEmbedding {
 public:
  struct Config : LayerConfig {
    using Product = PositionalEmbedding2D;
    static constexpr std::string_view kName = "praxis.layers.PositionalEmbedding2D";
    static constexpr std::string_view kAliases[] = {"praxis.layers.embedding_softmax.PositionalEmbedding2D"};
    static constexpr std::string_view kDoc = "Sinusoids of the row and the column of image patches.";
    int64_t h = 0;
    int64_t w = 0;
    int64_t embedding_dims = 0;
    std::string pos_transform = "hwd->(hw)d";
    int64_t num_prepend_cls_tokens = 0;
    int64_t num_append_cls_tokens = 0;
    static void fields(auto& self, auto&& visit) {
      LayerConfig::fields(self, visit);
      visit("h", self.h, "Patches down.");
      visit("w", self.w, "Patches across.");
      visit("embedding_dims", self.embedding_dims, "Size of the embedding: a multiple of 4.");
      visit("pos_transform", self.pos_transform, "Order of the patches; only this one exists.");
      visit("num_prepend_cls_tokens", self.num_prepend_cls_tokens, "Zeros before.");
      visit("num_append_cls_tokens", self.num_append_cls_tokens, "Zeros after.");
    }
  };
  PositionalEmbedding2D(const Config& config, const Scope& scope);
  Tensor embed(std::optional<int64_t> seq_length, Tensor position_bt) const override;

 private:
  const Config config_;
};
extern template const config::ConfigType& config::type_of<PositionalEmbedding2D::Config>();

/// Rotates pairs (i, i + H/2) of a head's dimensions by angles proportional to the position
/// (praxis embedding_softmax.RotaryPositionalEmbedding; Su et al. 2021).
class RotaryPositionalEmbedding : public Layer {
 public:
  using Interface = RotaryPositionalEmbedding;
  struct Config : LayerConfig {
    using Product = RotaryPositionalEmbedding;
    static constexpr std::string_view kName = "praxis.layers.RotaryPositionalEmbedding";
    static constexpr std::string_view kAliases[] = {"praxis.layers.embedding_softmax.RotaryPositionalEmbedding"};
    static constexpr std::string_view kDoc = "Rotates pairs of a head's dimensions by the position.";
    int64_t min_timescale = 1;
    int64_t max_timescale = 10'000;
    int64_t embedding_dims = 0;
    bool cast_as_fprop_dtype = true;
    static void fields(auto& self, auto&& visit) {
      LayerConfig::fields(self, visit);
      visit("min_timescale", self.min_timescale, "Positions a radian of the fastest pair.");
      visit("max_timescale", self.max_timescale, "Positions a radian that the slowest pair tends to.");
      visit("embedding_dims", self.embedding_dims, "H: even.");
      visit("cast_as_fprop_dtype", self.cast_as_fprop_dtype, "Result in fprop_dtype rather than float32.");
    }
  };
  RotaryPositionalEmbedding(const Config& config, const Scope& scope);

  using Layer::fprop;
  /// `x` [B, T, N, H] or [B, T, H] rotated to its positions [B, T]; null: 0, 1, ....
  virtual Tensor fprop(Tensor x, Tensor position_bt) const;
  /// One step of decoding: `x` [B, N, H], [B, H], or [B, P, N, H] whose last of P is at `position` (scalar or [B]).
  Tensor extend_step(Tensor x, Tensor position) const;

 private:
  const Config config_;
};
extern template const config::ConfigType& config::type_of<RotaryPositionalEmbedding::Config>();

}  // namespace pax
