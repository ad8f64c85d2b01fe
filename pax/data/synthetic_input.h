#pragma once

#include "pax/data/input.h"

namespace pax::data {

/// Batches of ones, without end, as Pax's benchmark presets use them: ids, labels, weights and segment_ids are 1,
/// paddings 0, segment_pos counts.
class SyntheticLmData final : public Input {
 public:
  struct Config : InputConfig {
    using Product = SyntheticLmData;
    static constexpr std::string_view kName = "paxml.tasks.lm.input_generator.SyntheticLmData";
    static constexpr std::string_view kDoc = "Language-model batches of ones, without end.";
    Required<int64_t> seq_len{};
    static void fields(auto& self, auto&& visit) {
      InputConfig::fields(self, visit);
      visit("seq_len", self.seq_len, {.doc = "Ids in a row.", .min = 1});
    }
  };

  explicit SyntheticLmData(const Config& config);

  BatchSpec spec() const override { return lm_batch_spec(share().batch_size, seq_len_); }

 protected:
  std::optional<HostTree> produce() override { return batch_; }
  void rewind() override {}
  std::string save_position() const override { return "{}"; }
  void restore_position(std::span<const std::string>) override {}

 private:
  int64_t seq_len_;
  HostTree batch_;
};

}  // namespace pax::data

extern template const pax::config::ConfigType& pax::config::type_of<pax::data::SyntheticLmData::Config>();
