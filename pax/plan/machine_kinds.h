#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "pax/plan/machine.h"

namespace pax {

/// TPU machines by name (`v4-64`), one slice; nothing when the family is unknown or has no slice of that size.
std::optional<Machine> find_tpu(std::string_view name);
/// GPU machines by name (`h100x64`).
std::optional<Machine> find_gpu(std::string_view name);

std::vector<std::string> tpu_names();
std::vector<std::string> gpu_names();

/// The whole of `text` as a positive number, if it is one.
std::optional<int64_t> positive_number(std::string_view text);

}  // namespace pax
