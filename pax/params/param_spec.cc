#include "pax/params/param_spec.h"

#include "pax/base/text.h"

namespace pax {

std::string_view collection_name(Collection collection) {
  switch (collection) {
    case Collection::kParams:
      return "params";
    case Collection::kNonTrainable:
      return "non_trainable";
    case Collection::kDecoderCache:
      return "decoder_cache";
  }
  return "";
}

std::string Param::state_name() const { return join_path(collection_name(spec.collection), path); }

}  // namespace pax
