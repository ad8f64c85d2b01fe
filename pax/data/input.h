#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "pax/config/config.h"
#include "pax/data/batch.h"

namespace pax::data {

class Tokenizer;

/// What to do when a saved position belongs to another data set or tokenizer.
enum class OnChange { kRefuse, kRestart };
std::span<const std::pair<OnChange, std::string_view>> enum_names(OnChange);

/// Members that every input has, under Praxis's names. The trainer sets hosts and, for eval inputs, `is_training`.
struct InputConfig {
  std::string name;
  Required<int64_t> batch_size{};
  int64_t num_infeed_hosts = 1;
  int64_t infeed_host_index = 0;
  std::optional<int64_t> input_random_seed{};
  bool is_training = false;
  bool reset_for_eval = false;
  int64_t eval_loop_num_batches = 1;
  int64_t batch_padding_size = 0;
  std::vector<int64_t> custom_device_order{};
  bool input_checkpointing_enabled = true;
  std::optional<std::string> tf_data_service_address{};
  OnChange on_dataset_change = OnChange::kRefuse;

  static void fields(auto& self, auto&& visit) {
    visit("name", self.name, "Unique among the inputs of an experiment; names its summaries.");
    visit("batch_size", self.batch_size, {.doc = "Rows of one host's batch.", .min = 1});
    visit("num_infeed_hosts", self.num_infeed_hosts, {.doc = "Hosts that read this data together.", .min = 1});
    visit("infeed_host_index", self.infeed_host_index, {.doc = "This host, from 0.", .min = 0});
    visit("input_random_seed", self.input_random_seed, "Seed of every shuffle; unset means 0, so runs repeat.");
    visit("is_training", self.is_training, "Whether these batches train the model.");
    visit("reset_for_eval", self.reset_for_eval, "Start from the first record at each evaluation.");
    visit("eval_loop_num_batches", self.eval_loop_num_batches,
          {.doc = "Batches of one evaluation; -1 means all.", .min = -1});
    visit("batch_padding_size", self.batch_padding_size, {.doc = "Rows of padding added to each batch.", .min = 0});
    visit("custom_device_order", self.custom_device_order, "Order of devices that rows are dealt to.");
    visit("input_checkpointing_enabled", self.input_checkpointing_enabled, "Save the position in checkpoints.");
    visit("tf_data_service_address", self.tf_data_service_address, "Not supported: must stay unset.");
    visit("on_dataset_change", self.on_dataset_change,
          "Restoring a position of another data set or tokenizer: refuse, or restart at record 0.");
  }
  void validate(config::Errors& errors) const;
};

/// Rows that this host takes of each global batch, and the seed: the shared members, checked.
struct HostShare {
  int64_t batch_size;
  int64_t num_hosts;
  int64_t host;
  int64_t global_batch_size() const { return batch_size * num_hosts; }
  /// Global row of this host's row `row` in global batch `batch`.
  int64_t global_row(int64_t batch, int64_t row) const { return batch * global_batch_size() + host * batch_size + row; }
};

/// A source of batches (Praxis's BaseInput). Batch k is a pure function of seed, data and k, on any number of hosts.
/// Every host ends after the same number of batches: what is short is padded with rows of zero weight.
class Input {
 public:
  using Kind = Input;

  explicit Input(const InputConfig& config);
  virtual ~Input() = default;
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;

  /// Names and types of a batch of this host (before `batch_padding_size`).
  virtual BatchSpec spec() const = 0;

  /// The next batch, or nothing at the end of the data. The first batch is checked against `spec`.
  std::optional<HostTree> next();

  /// What `next` will return, without taking it.
  const std::optional<HostTree>& peek();

  /// As `next` and `peek`, with `batch_padding_size` rows of padding added.
  std::optional<HostTree> next_padded();
  std::optional<HostTree> peek_padded();

  /// Back to the first batch.
  void reset();

  /// The position after the last batch taken, with the identity of the data: one line of JSON.
  std::string save() const;

  /// Continues from a position. `states` are what all hosts of the saved run returned, in order of host; their number
  /// may differ from this run's. Throws RuntimeError when the data has changed (see `on_dataset_change`).
  void restore(std::span<const std::string> states);
  void restore(const std::string& state) { restore(std::span(&state, 1)); }

  /// Batches from the first to the end; nothing when endless.
  virtual std::optional<int64_t> num_batches() const { return std::nullopt; }

  /// The tokenizer that ids belong to, or nullptr.
  virtual const Tokenizer* tokenizer() const { return nullptr; }

  /// Text of each row of `ids` i32[b,t]; `lengths` (may be empty: whole rows) says how much of each row counts.
  std::vector<std::string> ids_to_strings(const HostArray& ids, std::span<const int64_t> lengths) const;

  const InputConfig& common() const { return common_; }
  const std::string& name() const { return common_.name; }
  uint64_t seed() const { return static_cast<uint64_t>(common_.input_random_seed.value_or(0)); }
  HostShare share() const;

 protected:
  virtual std::optional<HostTree> produce() = 0;
  /// Throws when the first batch is not what `spec` promises.
  virtual void check_first(const HostTree& batch) const { require_spec(batch, spec(), name()); }
  virtual void rewind() = 0;
  virtual std::string save_position() const = 0;
  virtual void restore_position(std::span<const std::string> states) = 0;

 private:
  InputConfig common_;
  bool checked_ = false;
  bool has_peeked_ = false;
  std::optional<HostTree> peeked_;
  std::string position_before_peek_;
};

}  // namespace pax::data
