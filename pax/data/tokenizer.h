#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pax/config/config.h"

namespace pax::data {

/// Ids with a role. A tokenizer may have each or not; whether text gets them is the input's choice, one by one.
struct SpecialIds {
  std::optional<int32_t> pad, bos, eos, unk;
};

/// Text to ids and back. Safe to use from several threads.
class Tokenizer {
 public:
  using Kind = Tokenizer;
  virtual ~Tokenizer() = default;

  /// Appends the ids of `text` to `ids`; no bos or eos is added.
  virtual void encode(std::string_view text, std::vector<int32_t>& ids) const = 0;
  std::vector<int32_t> encode(std::string_view text) const;

  /// Text of `ids`, without control and special tokens. Ids that are not in the vocabulary decode to U+FFFD, or to the
  /// unknown token where the model has one; never throws.
  virtual std::string decode(std::span<const int32_t> ids) const = 0;

  /// As `decode`, control and special tokens shown.
  virtual std::string decode_with_specials(std::span<const int32_t> ids) const { return decode(ids); }

  /// The pieces of `text` as the model cut it; what the model does not know shows its own text.
  virtual std::vector<std::string> encode_pieces(std::string_view text) const;

  /// What the model sees of `text` before it is cut.
  virtual std::string normalize(std::string_view text) const { return std::string(text); }

  /// The text form of one id, for people: "▁the", "<0x0A>", "Ġcat".
  virtual std::string piece(int32_t id) const = 0;

  /// Ids are in [0, vocab_size).
  virtual int32_t vocab_size() const = 0;
  virtual SpecialIds special_ids() const = 0;

  /// Changes whenever ids could change: tags caches and saved positions.
  virtual std::string fingerprint() const = 0;

  /// Whether text may be encoded in pieces cut anywhere, so that huge texts need no memory (bytes only).
  virtual bool is_bytes() const { return false; }
};

/// Bytes: pad 0, eos 1, bos 2, byte b is id b + 3; 259 ids in all. Loses nothing, knows no unknowns.
class BytesTokenizer final : public Tokenizer {
 public:
  struct Config {
    using Product = BytesTokenizer;
    static constexpr std::string_view kName = "pax.BytesTokenizer";
    static constexpr std::string_view kDoc = "Bytes as ids: pad 0, eos 1, bos 2, byte b is b + 3.";
    static void fields(auto&, auto&&) {}
  };
  static constexpr int32_t kPad = 0, kEos = 1, kBos = 2, kOffset = 3;
  static constexpr int32_t kVocabSize = 256 + kOffset;
  /// The vocabulary rounded up to a multiple of 64, for models.
  static constexpr int32_t kPaddedVocabSize = 320;

  BytesTokenizer() = default;
  explicit BytesTokenizer(const Config&) {}

  using Tokenizer::encode;
  void encode(std::string_view text, std::vector<int32_t>& ids) const override;
  std::string decode(std::span<const int32_t> ids) const override;
  std::string piece(int32_t id) const override;
  int32_t vocab_size() const override { return kVocabSize; }
  SpecialIds special_ids() const override { return {.pad = kPad, .bos = kBos, .eos = kEos, .unk = std::nullopt}; }
  std::string fingerprint() const override { return "bytes-3"; }
  bool is_bytes() const override { return true; }
};

}  // namespace pax::data

extern template const pax::config::ConfigType& pax::config::type_of<pax::data::BytesTokenizer::Config>();
