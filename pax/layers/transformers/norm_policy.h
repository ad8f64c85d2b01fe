#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

namespace pax {

/// Where a residual block normalises: its input; its input and its output; its output; the sum with the residual.
enum class NormPolicy : uint8_t { kPre, kPrimerHybrid, kPost, kPostSkip };

/// "pre", "primer_hybrid", "post", "post_skip".
std::span<const std::pair<NormPolicy, std::string_view>> enum_names(NormPolicy);

}  // namespace pax
