#include "pax/task/decoding/decoder.h"

#include <algorithm>

#include "pax/base/error.h"

namespace pax {

std::vector<int64_t> DecoderConfig::eos_ids() const {
  if (const int64_t* one = std::get_if<0>(&eos_id)) return {*one};
  return std::get<1>(eos_id);
}

int64_t DecoderConfig::decode_steps() const {
  if (!max_decode_steps) fail<ConfigError>("decoder_tpl: max_decode_steps is not set; fprop_for_prefix needs it");
  if (const int64_t* one = std::get_if<0>(&*max_decode_steps)) return *one;
  const auto& all = std::get<1>(*max_decode_steps);
  if (all.empty()) fail<ConfigError>("decoder_tpl: max_decode_steps is an empty list");
  return *std::ranges::max_element(all);
}

}  // namespace pax
