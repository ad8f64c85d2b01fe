#pragma once

#include <map>
#include <string>
#include <vector>

#include "pax/data/task.h"

namespace pax::data {

/// Renames fields: `key_map` gives for each new name the old one ("" for an empty text); other fields are dropped.
class Rekey final : public Preprocessor {
 public:
  struct Config {
    using Product = Rekey;
    static constexpr std::string_view kName = "seqio.preprocessors.rekey";
    std::map<std::string, std::string> key_map{};
    static void fields(auto& self, auto&& visit) { visit("key_map", self.key_map, "New name to old name."); }
  };
  explicit Rekey(const Config& config) : config_(config) {}
  void apply(std::vector<Example>& examples, const PreprocessContext& context) const override;

 private:
  Config config_;
};

/// Text of output features to ids.
class Tokenize final : public Preprocessor {
 public:
  struct Config {
    using Product = Tokenize;
    static constexpr std::string_view kName = "seqio.preprocessors.tokenize";
    bool copy_pretokenized = true;
    bool with_eos = false;
    static void fields(auto& self, auto&& visit) {
      visit("copy_pretokenized", self.copy_pretokenized, "Keep the text as `<feature>_pretokenized`.");
      visit("with_eos", self.with_eos, "Append eos to features that add it.");
    }
  };
  explicit Tokenize(const Config& config) : config_(config) {}
  void apply(std::vector<Example>& examples, const PreprocessContext& context) const override;

 private:
  Config config_;
};

/// Appends eos to the features that add it; trimming afterwards may cut it off again.
class AppendEos final : public Preprocessor {
 public:
  struct Config {
    using Product = AppendEos;
    static constexpr std::string_view kName = "seqio.preprocessors.append_eos";
    static void fields(auto&, auto&&) {}
  };
  explicit AppendEos(const Config&) {}
  void apply(std::vector<Example>& examples, const PreprocessContext& context) const override;
};

/// Trims features to one less than their length and appends eos: what is cut ends in eos too.
class AppendEosAfterTrim final : public Preprocessor {
 public:
  struct Config {
    using Product = AppendEosAfterTrim;
    static constexpr std::string_view kName = "seqio.preprocessors.append_eos_after_trim";
    static void fields(auto&, auto&&) {}
  };
  explicit AppendEosAfterTrim(const Config&) {}
  void apply(std::vector<Example>& examples, const PreprocessContext& context) const override;
};

/// Puts bos before and eos behind a document, each on its own wish.
class AddBosEos final : public Preprocessor {
 public:
  struct Config {
    using Product = AddBosEos;
    static constexpr std::string_view kName = "pax.AddBosEos";
    std::string feature = "targets";
    bool bos = true;
    bool eos = true;
    static void fields(auto& self, auto&& visit) {
      visit("feature", self.feature);
      visit("bos", self.bos, "Begin with the vocabulary's bos.");
      visit("eos", self.eos, "End with the vocabulary's eos.");
    }
  };
  explicit AddBosEos(const Config& config) : config_(config) {}
  void apply(std::vector<Example>& examples, const PreprocessContext& context) const override;

 private:
  Config config_;
};

/// Cuts a document into examples of at most the feature's length, without overlap: nothing of it is lost.
class SplitTokens final : public Preprocessor {
 public:
  struct Config {
    using Product = SplitTokens;
    static constexpr std::string_view kName = "t5.data.preprocessors.split_tokens";
    std::string feature = "targets";
    std::optional<int64_t> max_tokens_per_segment{};
    static void fields(auto& self, auto&& visit) {
      visit("feature", self.feature);
      visit("max_tokens_per_segment", self.max_tokens_per_segment, {.doc = "Unset: the feature's length.", .min = 1});
    }
  };
  explicit SplitTokens(const Config& config) : config_(config) {}
  void apply(std::vector<Example>& examples, const PreprocessContext& context) const override;

 private:
  Config config_;
};

/// T5's denoising: spans of `targets` are replaced by sentinels in `inputs`; `targets` becomes the sentinels and spans.
class SpanCorruption final : public Preprocessor {
 public:
  struct Config {
    using Product = SpanCorruption;
    static constexpr std::string_view kName = "t5.data.preprocessors.span_corruption";
    double noise_density = 0.15;
    double mean_noise_span_length = 3.0;
    int64_t extra_ids = 100;
    static void fields(auto& self, auto&& visit) {
      visit("noise_density", self.noise_density, {.doc = "Share of tokens that are taken out.", .min = 0, .max = 1});
      visit("mean_noise_span_length", self.mean_noise_span_length, {.doc = "Tokens of a span.", .min = 1});
      visit("extra_ids", self.extra_ids,
            {.doc = "Sentinels lie above the vocabulary, the first the highest.", .min = 1});
    }
  };
  explicit SpanCorruption(const Config& config) : config_(config) {}
  void apply(std::vector<Example>& examples, const PreprocessContext& context) const override;

 private:
  Config config_;
};

/// Splits `targets` at a random place: the part before becomes `inputs`, seen but not scored.
class PrefixLm final : public Preprocessor {
 public:
  struct Config {
    using Product = PrefixLm;
    static constexpr std::string_view kName = "t5.data.preprocessors.prefix_lm";
    static void fields(auto&, auto&&) {}
  };
  explicit PrefixLm(const Config&) {}
  void apply(std::vector<Example>& examples, const PreprocessContext& context) const override;
};

/// `ids` with each run of those whose `noise` equals `hidden` replaced by one sentinel, counting down from `first`.
Ints with_sentinels(const Ints& ids, const std::vector<bool>& noise, bool hidden, int64_t first);

/// Which of `length` tokens are noise: `num_spans` spans and gaps of random sizes in turn, a gap first.
std::vector<bool> random_spans(int64_t length, double noise_density, double mean_span, uint64_t key);

}  // namespace pax::data

extern template const pax::config::ConfigType& pax::config::type_of<pax::data::Rekey::Config>();
extern template const pax::config::ConfigType& pax::config::type_of<pax::data::Tokenize::Config>();
extern template const pax::config::ConfigType& pax::config::type_of<pax::data::AppendEos::Config>();
extern template const pax::config::ConfigType& pax::config::type_of<pax::data::AppendEosAfterTrim::Config>();
extern template const pax::config::ConfigType& pax::config::type_of<pax::data::AddBosEos::Config>();
extern template const pax::config::ConfigType& pax::config::type_of<pax::data::SplitTokens::Config>();
extern template const pax::config::ConfigType& pax::config::type_of<pax::data::SpanCorruption::Config>();
extern template const pax::config::ConfigType& pax::config::type_of<pax::data::PrefixLm::Config>();
