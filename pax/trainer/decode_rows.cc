#include "pax/trainer/decode_rows.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "pax/base/error.h"
#include "pax/data/tokenizer.h"

namespace pax {
namespace {

using Ids = std::vector<int32_t>;

/// The values of an array [B, …] as rows.
template <class T>
class Rows {
 public:
  explicit Rows(const HostArray& array)
      : values_(array.to_doubles()),
        width_(array.shape()[0] == 0 ? 0 : values_.size() / static_cast<size_t>(array.shape()[0])) {}
  /// The first `count` values of row `i`, from `start` on.
  std::vector<T> row(int64_t i, size_t start, size_t count) const {
    std::vector<T> out;
    for (size_t k = 0; k < count; ++k)
      out.push_back(static_cast<T>(values_.at(static_cast<size_t>(i) * width_ + start + k)));
    return out;
  }
  size_t width() const { return width_; }

 private:
  std::vector<double> values_;
  size_t width_;
};

/// Whether a row counts: it was not put in to fill the batch.
std::vector<bool> rows_that_count(const HostTree& batch, int64_t rows) {
  std::vector<bool> counts(static_cast<size_t>(rows), true);
  for (const char* field : {"eval_sample_weights", "weights", "tgt/weights"}) {
    const auto at = batch.find(field);
    if (at == batch.end() || at->second.shape().rank() < 1 || at->second.shape()[0] != rows) continue;
    const Rows<double> weights(at->second);
    for (int64_t i = 0; i < rows; ++i) {
      const std::vector<double> row = weights.row(i, 0, weights.width());
      if (std::ranges::all_of(row, [](double w) { return w == 0; })) counts[static_cast<size_t>(i)] = false;
    }
    break;
  }
  return counts;
}

class RowWriter {
 public:
  RowWriter(const data::Input& input, const HostTree& batch, const HostTree& decoded)
      : input_(input),
        batch_(batch),
        ids_(decoded.at("output_ids")),
        logprobs_(decoded.at("logprobs")),
        lengths_(decoded.at("decode_lengths")),
        samples_(decoded.at("output_ids").shape()[1]),
        width_(static_cast<size_t>(decoded.at("output_ids").shape()[2])) {
    if (const auto at = decoded.find("prefix_lengths"); at != decoded.end()) prefixes_.emplace(at->second);
    if (const auto at = decoded.find("scores"); at != decoded.end()) scores_.emplace(at->second);
  }

  struct Row {
    nlohmann::json json;
    int64_t length = 0;
    std::string written, reference;
  };
  Row row(int64_t i) const {
    Row out;
    const size_t length = length_of(i, 0);
    const size_t prefix = prefixes_ ? static_cast<size_t>(prefixes_->row(i, 0, 1)[0]) : 1;
    const Ids ids = ids_.row(i, 0, width_);
    const Ids written(ids.begin() + static_cast<int64_t>(std::min(prefix, length)),
                      ids.begin() + static_cast<int64_t>(length));
    out.length = static_cast<int64_t>(length);
    out.written = text(written);
    out.json = {{"decoded", text({ids.begin(), ids.begin() + static_cast<int64_t>(length)})},
                {"ids", ids},
                {"decoded_ids", written},
                {"decoded_substr", out.written},
                {"logprobs", logprobs_.row(i, 0, width_)},
                {"prefix_length", prefix},
                {"decode_length", length}};
    if (scores_) out.json["score"] = scores_->row(i, 0, 1)[0];
    if (batch_.contains("src/ids")) {
      out.reference = text(real("tgt/labels", "tgt/paddings", i));
      out.json["source"] = text(real("src/ids", "src/paddings", i));
      out.json["target"] = out.reference;
    } else {
      const Ids original = real("ids", "paddings", i);
      const auto cut = static_cast<int64_t>(std::min(prefix, original.size()));
      out.json["prefix"] = text({original.begin(), original.begin() + cut});
      out.json["original"] = text(original);
      out.reference = text({original.begin() + cut, original.end()});
    }
    if (samples_ > 1) {
      nlohmann::json all = nlohmann::json::array();
      for (int64_t s = 0; s < samples_; ++s)
        all.push_back(text(ids_.row(i, static_cast<size_t>(s) * width_, length_of(i, s))));
      out.json["sampled"] = std::move(all);
    }
    return out;
  }

 private:
  size_t length_of(int64_t i, int64_t sample) const {
    const double length = lengths_.row(i, static_cast<size_t>(sample), 1)[0];
    return static_cast<size_t>(std::clamp(length, 0.0, static_cast<double>(width_)));
  }
  std::string text(const Ids& ids) const {
    return input_.tokenizer() != nullptr ? input_.tokenizer()->decode(ids) : "";
  }
  /// Row `i` of a field of the batch without its padding.
  Ids real(const char* field, const char* paddings, int64_t i) const {
    const auto at = batch_.find(field), padding_at = batch_.find(paddings);
    if (at == batch_.end()) return {};
    const Rows<int32_t> ids(at->second);
    if (padding_at == batch_.end()) return ids.row(i, 0, ids.width());
    const std::vector<double> padding = Rows<double>(padding_at->second).row(i, 0, ids.width());
    return ids.row(i, 0, static_cast<size_t>(std::ranges::count(padding, 0.0)));
  }

  const data::Input& input_;
  const HostTree& batch_;
  const Rows<int32_t> ids_;
  const Rows<float> logprobs_;
  const Rows<double> lengths_;
  const int64_t samples_;
  const size_t width_;
  std::optional<Rows<double>> prefixes_, scores_;
};

}  // namespace

void DecodedRows::add(const HostTree& batch, const HostTree& decoded) {
  const RowWriter writer(input_, batch, decoded);
  const int64_t rows = decoded.at("output_ids").shape()[0];
  const std::vector<bool> counts = rows_that_count(batch, rows);
  for (int64_t i = 0; i < rows; ++i) {
    if (!counts[static_cast<size_t>(i)]) continue;
    const RowWriter::Row row = writer.row(i);
    length_.add({static_cast<double>(row.length), 1});
    ++rows_;
    if (!row.reference.empty()) scores_.add(row.written, row.reference);
    text_ += row.json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  }
}

Tree<WeightedScalar> DecodedRows::metrics() const {
  Tree<WeightedScalar> out = scores_.result();
  out["decoded_length"] = length_.result();
  out["num_decoded"] = {static_cast<double>(rows_), 1};
  return out;
}

}  // namespace pax
