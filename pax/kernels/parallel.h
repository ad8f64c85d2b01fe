#pragma once

#include <cstdint>
#include <functional>

namespace pax {

/// Runs `body(0)` … `body(tasks - 1)` in any order on several threads and returns when all are done.
using ParallelFor = std::function<void(int64_t tasks, const std::function<void(int64_t)>& body)>;

/// One after the other on the caller's thread.
inline void run_in_order(int64_t tasks, const std::function<void(int64_t)>& body) {
  for (int64_t i = 0; i < tasks; ++i) body(i);
}

/// The part [begin, end) of `total` that piece `i` of `pieces` takes.
struct Piece {
  int64_t begin, end;
};
inline Piece piece_of(int64_t total, int64_t i, int64_t pieces) {
  return {total * i / pieces, total * (i + 1) / pieces};
}

}  // namespace pax
