#pragma once

#include <memory>

#include "pax/data/data_source.h"
#include "pax/data/indexed_input.h"
#include "pax/data/tokenizer.h"

namespace pax::data {

/// Pax's TextInput: each line of a text file is a row, cut to `max_sequence_length`; ids begin with bos, labels end
/// with eos. Meant for evaluation: one pass, in order, padded with rows of zero weight.
class LineInput final : public IndexedInput {
 public:
  struct Config : InputConfig {
    using Product = LineInput;
    static constexpr std::string_view kName = "paxml.tasks.lm.input_generator.TextInput";
    static constexpr std::string_view kDoc = "One line of a text file a row, for evaluation.";
    Required<std::string> input_file{};
    Tpl<Tokenizer> tokenizer = BytesTokenizer::Config{};
    int64_t max_sequence_length = 512;
    int64_t num_samples = 0;
    static void fields(auto& self, auto&& visit) {
      InputConfig::fields(self, visit);
      visit("input_file", self.input_file, "The text file, plain, gzip or zstd.");
      visit("tokenizer", self.tokenizer, "Text to ids.");
      visit("max_sequence_length", self.max_sequence_length, {.doc = "Ids in a row; longer lines are cut.", .min = 1});
      visit("num_samples", self.num_samples, {.doc = "Use only so many lines; 0: all.", .min = 0});
    }
  };

  explicit LineInput(const Config& config);
  BatchSpec spec() const override { return lm_batch_spec(share().batch_size, max_length_); }
  const Tokenizer* tokenizer() const override { return source_.tokenizer.get(); }

 protected:
  HostTree make_batch(std::span<const int64_t> records) override;

 private:
  struct Source {
    std::shared_ptr<Tokenizer> tokenizer;
    std::unique_ptr<DataSource> lines;
  };
  static Source open(const Config& config);
  static Walk walk(const Config& config, const Source& source);
  LineInput(const Config& config, Source source);

  Source source_;
  int64_t max_length_;
};

}  // namespace pax::data

extern template const pax::config::ConfigType& pax::config::type_of<pax::data::LineInput::Config>();
