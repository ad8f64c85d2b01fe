#pragma once

#include "pax/ir/tensor.h"

namespace pax {

/// How `inverse_root` goes about it.
struct InverseRootOptions {
  double ridge = 1e-6;             ///< added to the diagonal
  bool relative_ridge = true;      ///< times the largest eigenvalue
  double failure_threshold = 0.1;  ///< largest error that counts as success
  int64_t iterations = 100;
  double tolerance = 1e-6;
};

/// matrix^(-1/p) of each symmetric positive semidefinite matrix [..., n, n] by the coupled Newton iteration
/// (Iannazzo 2006), `otherwise` where it fails to converge.
Tensor inverse_root(Tensor matrix, int64_t p, Tensor otherwise, const InverseRootOptions& options = {});

/// The identity in the last two dimensions of a `matrix` [..., n, n].
Tensor identity_like(Tensor matrix);

/// The largest eigenvalue of each symmetric positive semidefinite matrix, by power iteration; [..., 1, 1].
Tensor largest_eigenvalue(Tensor matrix, int64_t iterations = 100);

}  // namespace pax
