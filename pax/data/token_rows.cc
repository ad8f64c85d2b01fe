#include "pax/data/token_rows.h"

#include <fmt/format.h>

#include "pax/data/unicode.h"

namespace pax::data {
namespace {

/// Field `name` when it has type `dtype` and the shape of the ids; else an empty array.
HostArray beside(const HostTree& batch, const std::string& name, DType dtype, const Shape& shape) {
  const auto found = batch.find(name);
  if (found == batch.end() || found->second.dtype() != dtype || found->second.shape() != shape) return {};
  return found->second;
}

bool holds_tokens(const HostArray& array) { return array.dtype() == DType::kS32 && array.shape().rank() == 2; }

template <class T>
std::span<const T> row_of(const HostArray& array, size_t r, size_t width) {
  if (array.shape().rank() != 2) return {};
  return array.values<T>().subspan(r * width, width);
}

}  // namespace

int32_t TokenRow::segment(size_t at) const {
  if (!segments.empty()) return segments[at];
  return paddings.empty() || paddings[at] == 0 ? 1 : 0;
}

float TokenRow::weight(size_t at) const {
  if (!weights.empty()) return weights[at];
  return segment(at) == 0 ? 0.0F : 1.0F;
}

bool TokenRow::same_run(size_t a, size_t b) const {
  return segment(a) == segment(b) && (weight(a) != 0) == (weight(b) != 0);
}

TokenRow TokenRows::row(size_t r) const {
  const auto width = static_cast<size_t>(ids.shape()[1]);
  return {.ids = row_of<int32_t>(ids, r, width),
          .weights = row_of<float>(weights, r, width),
          .paddings = row_of<float>(paddings, r, width),
          .segments = row_of<int32_t>(segments, r, width)};
}

std::vector<TokenRows> token_rows(const HostTree& batch) {
  std::vector<TokenRows> all;
  for (const auto& [name, array] : batch) {
    const size_t slash = name.rfind('/');
    const std::string prefix = slash == std::string::npos ? "" : name.substr(0, slash + 1);
    const std::string field = name.substr(prefix.size());
    if ((field != "ids" && field != "labels") || !holds_tokens(array)) continue;
    if (field == "ids" && batch.contains(prefix + "labels") && holds_tokens(batch.at(prefix + "labels"))) continue;
    const Shape& shape = array.shape();
    all.push_back({.prefix = prefix,
                   .ids = array,
                   .weights = beside(batch, prefix + "weights", DType::kF32, shape),
                   .paddings = beside(batch, prefix + "paddings", DType::kF32, shape),
                   .segments = beside(batch, prefix + "segment_ids", DType::kS32, shape)});
  }
  return all;
}

std::string visible(std::string_view text) {
  std::string out;
  for (const char c : repair_utf8(text)) {
    if (c == '\n') {
      out += "\xE2\x8F\x8E";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      out.push_back(c);
    }
  }
  return out;
}

std::string escape_html(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '"') {
      out += "&quot;";
    } else {
      out.push_back(c);
    }
  }
  return out;
}

}  // namespace pax::data
