#include "pax/data/synthetic_input.h"

namespace pax::data {

SyntheticLmData::SyntheticLmData(const Config& config) : Input(config), seq_len_(*config.seq_len) {
  const std::vector<int32_t> ids(static_cast<size_t>(seq_len_), 1);
  const std::vector<float> weights(static_cast<size_t>(seq_len_), 1.0F);
  LmBatch batch(share().batch_size, seq_len_);
  for (int64_t row = 0; row < share().batch_size; ++row) batch.append(row, ids, ids, weights);
  batch_ = batch.take();
}

}  // namespace pax::data

template const pax::config::ConfigType& pax::config::type_of<pax::data::SyntheticLmData::Config>();
