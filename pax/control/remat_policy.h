#pragma once

#include "pax/ir/graph.h"

namespace pax {

/// Decides which intermediate values are kept for the gradient; all others are computed again from those.
/// Policies of Pax's AutodiffCheckpointType are in remat.h.
class RematPolicy : public OpExtension {
 public:
  /// Whether the results of `node` are kept.
  virtual bool keeps(const Node& node) const = 0;
};

}  // namespace pax
