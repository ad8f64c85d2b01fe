#pragma once

#include <cstddef>
#include <functional>

namespace pax {

/// Calls `work(i)` for each i below `count` from up to `threads` threads. After an error no further call begins, and
/// the first error is thrown. File-size limits reach these threads as errors, not as signals.
void parallel_for(size_t count, size_t threads, const std::function<void(size_t)>& work);

/// Threads that keep a disk busy on this machine.
size_t io_threads();

}  // namespace pax
