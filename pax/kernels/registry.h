#pragma once

#include "pax/ir/op.h"
#include "pax/pjrt/plugin.h"

namespace pax {

/// Makes the kernels of this folder known to a CPU plugin, so that programs lowered for a target with kernels run.
/// False when the plugin takes none.
bool register_kernels(const Plugin& plugin);

/// `target` with what kernels this machine runs well.
Target with_kernels(Target target);

}  // namespace pax
