#pragma once

#include <memory>
#include <vector>

#include "pax/control/remat_policy.h"

namespace pax {

// The scan op. Operands: carries, scanned inputs, constants; its region takes carries, slices, constants and gives
// carries and ys; results: carries, stacked ys. The region uses nothing else.

/// How the operands of a scan divide.
struct ScanLayout {
  explicit ScanLayout(const OpCall& call);
  int64_t length;
  bool reverse;
  size_t num_carry;
  size_t num_xs;
};

struct ScanSpec {
  int64_t length = 0;
  bool reverse = false;
  std::shared_ptr<const RematPolicy> remat{};
};

/// Builds the op around a closed body. Results: carries, stacked ys.
std::vector<Tensor> emit_scan(Graph& graph, const ScanSpec& spec, BlockId body, const std::vector<Tensor>& init,
                              const std::vector<Tensor>& xs, const std::vector<Tensor>& constants);

/// The scan as a StableHLO while.
std::vector<Tensor> lower_scan(const OpCall& call, const Target& target);

/// The scan of a whole batch: one loop.
std::vector<Tensor> batch_scan(const OpCall& call, const std::vector<bool>& batched);

}  // namespace pax
