#include "pax/data/indexed_input.h"

#include <nlohmann/json.hpp>

#include "pax/base/error.h"
#include "pax/base/log.h"

namespace pax::data {

IndexedInput::IndexedInput(const InputConfig& config, Walk walk)
    : Input(config), walk_(std::move(walk)), order_(walk_.num_records, seed(), walk_.mode) {
  if (walk_.num_records == 0) fail<RuntimeError>("input {}: {} holds no records", name(), walk_.identity.name);
  if (walk_.epochs && *walk_.epochs < 1) {
    fail<ConfigError>("input {}: num_epochs is {}; it must be at least 1, or unset to repeat for ever", name(),
                      *walk_.epochs);
  }
  if (num_batches() == 0) {
    fail<RuntimeError>("input {}: {} records of {} do not fill one global batch of {} rows and drop_remainder is set",
                       name(), total_rows(), walk_.identity.name, share().global_batch_size());
  }
}

std::optional<int64_t> IndexedInput::num_batches() const {
  if (!walk_.epochs) return std::nullopt;
  const int64_t batch = share().global_batch_size();
  return walk_.drop_remainder ? total_rows() / batch : (total_rows() + batch - 1) / batch;
}

std::optional<HostTree> IndexedInput::produce() {
  const HostShare mine = share();
  const int64_t global = mine.global_batch_size();
  if (walk_.epochs) {
    const int64_t left = total_rows() - rows_taken_;
    if (left <= 0 || (walk_.drop_remainder && left < global)) return std::nullopt;
  }
  std::vector<int64_t> records(static_cast<size_t>(mine.batch_size), kPadding);
  for (int64_t row = 0; row < mine.batch_size; ++row) {
    const int64_t position = rows_taken_ + mine.host * mine.batch_size + row;
    if (walk_.epochs && position >= total_rows()) break;
    records[static_cast<size_t>(row)] = order_(position);
  }
  HostTree batch = make_batch(records);
  rows_taken_ += global;
  return batch;
}

std::string IndexedInput::save_position() const {
  return nlohmann::json{{"rows", rows_taken_},
                        {"seed", seed()},
                        {"dataset", walk_.identity.fingerprint},
                        {"dataset_name", walk_.identity.name}}
      .dump();
}

void IndexedInput::restore_position(std::span<const std::string> states) {
  const nlohmann::json state = nlohmann::json::parse(states.front(), nullptr, /*allow_exceptions=*/false);
  if (!state.is_object() || !state.contains("rows") || !state["rows"].is_number_integer() || state["rows"] < 0) {
    fail<RuntimeError>("input {}: saved position \"{}\" is damaged or of another kind of input", name(),
                       states.front().substr(0, 80));
  }
  rewind();
  const DatasetIdentity saved{state.value("dataset_name", ""), state.value("dataset", "")};
  if (!same_dataset(saved, walk_.identity, common().on_dataset_change, name())) return;
  if (state.value("seed", uint64_t{0}) != seed()) {
    log_warning("input {}: the saved position used seed {}, this run uses {}: the order of records differs from here",
                name(), state.value("seed", uint64_t{0}), seed());
  }
  rows_taken_ = state["rows"];
}

bool same_dataset(const DatasetIdentity& saved, const DatasetIdentity& present, OnChange policy,
                  const std::string& input) {
  if (saved.fingerprint == present.fingerprint) return true;
  if (policy == OnChange::kRefuse) {
    fail<RuntimeError>(
        "input {}: the saved position belongs to {} [{:.8}] but the data is now {} [{:.8}]; give the old data back, or "
        "set on_dataset_change=restart to begin at record 0 of the new data",
        input, saved.name, saved.fingerprint, present.name, present.fingerprint);
  }
  log_warning("input {}: the data was {} [{:.8}] and is now {} [{:.8}]: starting at record 0", input, saved.name,
              saved.fingerprint, present.name, present.fingerprint);
  return false;
}

}  // namespace pax::data
