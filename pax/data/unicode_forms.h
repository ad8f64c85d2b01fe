#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace pax::data {

/// The normal forms of Unicode Standard Annex 15.
enum class NormalForm { kNfc, kNfd, kNfkc, kNfkd };

/// `text`, which must be UTF-8, in a normal form.
std::string normal_form(std::string_view text, NormalForm form);

/// Every character in lower case by itself, as Unicode's simple mapping has it; U+0130 becomes two.
std::string lower_case(std::string_view text);

/// General category Mn.
bool is_nonspacing_mark(uint32_t code_point);

}  // namespace pax::data
