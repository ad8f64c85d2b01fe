#pragma once

#include "pax/runtime/program.h"

namespace pax {

/// Floating-point operations a second that the devices reach on a plain square matrix product, all together: the limit
/// that model-FLOPs use (MFU) is measured against. Takes some tens of milliseconds.
double measure_peak_flops(const std::shared_ptr<const DeviceMesh>& mesh, DType dtype, CompileCache& cache);

}  // namespace pax
