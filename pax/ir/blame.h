#pragma once

#include <string>
#include <string_view>

namespace pax {

/// Of which layer a compiler's error `message` about the program `stablehlo` speaks: "lm/ffn/up: stablehlo.reshape", or
/// the path alone where the message tells no more; empty where it tells nothing. It is found by the locations, line
/// numbers and names of called functions in the message.
std::string blamed_layer(std::string_view message, std::string_view stablehlo);

}  // namespace pax
