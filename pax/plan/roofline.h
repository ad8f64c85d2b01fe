#pragma once

#include "pax/plan/hlo.h"
#include "pax/plan/machine.h"

namespace pax {

/// Parts of the peak rates that large products and copies reach on GPUs (assumed), and what starting a kernel takes.
inline constexpr double kProductEfficiency = 0.75;
inline constexpr double kMemoryEfficiency = 0.85;
inline constexpr double kLaunchSeconds = 2e-6;

/// Seconds that one instruction keeps a device busy: the compiler's `estimated_cycles` where it notes them (TPU); on
/// GPUs the longer of its products at `kProductEfficiency` of the peak and its operands and results at
/// `kMemoryEfficiency` of the memory's rate. 0 for what costs nothing, and for machines without figures (CPU).
double instruction_seconds(const HloModule& module, const HloComputation& computation,
                           const HloInstruction& instruction, const Machine& machine);

/// Multiplications and additions (2 each) of the matrix products in an instruction and in what it calls.
double product_flops(const HloModule& module, const HloComputation& computation, const HloInstruction& instruction);

}  // namespace pax
