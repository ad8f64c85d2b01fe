#include "pax/data/seqio_input.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "pax/base/error.h"
#include "pax/data/indexed_input.h"

namespace pax::data {
namespace {

// A batch with its own row of zeros and ones: [b]
constexpr const char* kSampleWeights = "eval_sample_weights";

std::shared_ptr<StreamShared> open_shared(const SeqIOInput::Config& config, const HostShare& share) {
  auto shared = std::make_shared<StreamShared>();
  shared->converter = config.feature_converter.build();
  shared->row_lengths = shared->converter->row_lengths(config.task_feature_lengths);
  const int64_t global = share.global_batch_size();
  shared->num_streams = config.num_streams.value_or(global);
  if (global % shared->num_streams != 0 || share.batch_size % (global / shared->num_streams) != 0) {
    fail<ConfigError>(
        "input {}: num_streams is {}: it must divide the global batch of {} rows, and its {} rows a batch must divide "
        "one host's {}; leave it unset for one stream a row",
        config.name, shared->num_streams, global, global / shared->num_streams, share.batch_size);
  }
  const bool repeat = config.repeat.value_or(config.is_training);
  const bool shuffle = config.shuffle.value_or(config.is_training);
  SetOptions options{.split = *config.split_name,
                     .lengths = config.task_feature_lengths,
                     .mode = shuffle ? EpochOrder::Mode::kShuffled : EpochOrder::Mode::kSequential,
                     .epochs = 1,
                     .seed = static_cast<uint64_t>(config.input_random_seed.value_or(0)),
                     .trim_output_features = config.trim_output_features};
  if (repeat) options.epochs = std::nullopt;
  shared->examples = config.mixture_or_task.build()->open(options);
  shared->packing = shared->converter->packs() ? config.packing : Packing::kNone;
  shared->bins = config.packing_bins;
  return shared;
}

IntRow empty_row(const StreamShared& shared) {
  Packer packer(shared.row_lengths, shared.packing, 1);
  packer.add({});
  return std::move(packer.flush().front());
}

}  // namespace

SeqIOInput::SeqIOInput(const Config& config)
    : Input(config),
      shared_(open_shared(config, share())),
      identity_(shared_->examples->identity()),
      pads_(!config.is_training && config.reset_for_eval && config.eval_auto_pad && !config.repeat.value_or(false)),
      annotate_(config.annotate_padding_fields),
      drop_remainder_(config.drop_remainder && !pads_),
      skip_(config.is_training ? config.num_batches_to_skip.value_or(0) : 0),
      workers_(std::make_unique<WorkerPool>(static_cast<int>(config.num_workers))) {
  for (const auto& [name, array] : shared_->converter->convert(empty_row(*shared_))) {
    const int64_t rows = share().batch_size;
    spec_[name] = {array.dtype(), array.shape().prefixed(std::span(&rows, 1))};
  }
  spec_[kSampleWeights] = {DType::kF32, {share().batch_size}};
  rewind();
  if (shared_->examples->size() && share().num_hosts > 1) count_batches();
  if (pads_) filler_ = filler_row();
}

SeqIOInput::~SeqIOInput() = default;

const Tokenizer* SeqIOInput::tokenizer() const { return shared_->examples->vocabulary("targets"); }

void SeqIOInput::rewind() {
  const int64_t mine = share().batch_size / rows_per_stream();
  streams_.clear();
  for (int64_t i = 0; i < mine; ++i) streams_.emplace_back(shared_, first_stream() + i);
  batches_taken_ = 0;
  for (int64_t i = 0; i < skip_; ++i) make_batch();
}

void SeqIOInput::count_batches() {
  std::vector<int64_t> rows(static_cast<size_t>(shared_->num_streams));
  workers_->run(rows.size(), [&](size_t i) {
    RowStream stream(shared_, static_cast<int64_t>(i));
    while (stream.next()) ++rows[i];
  });
  const int64_t each = rows_per_stream();
  num_batches_ =
      drop_remainder_ ? *std::ranges::min_element(rows) / each : (*std::ranges::max_element(rows) + each - 1) / each;
}

HostTree SeqIOInput::filler_row() const {
  std::optional<IntRow> row = RowStream(shared_, 0).next();
  return shared_->converter->convert(row ? *row : empty_row(*shared_));
}

std::optional<HostTree> SeqIOInput::produce() {
  if (num_batches_ && batches_taken_ >= *num_batches_) return std::nullopt;
  return make_batch();
}

std::optional<HostTree> SeqIOInput::make_batch() {
  const auto each = static_cast<size_t>(rows_per_stream());
  std::vector<std::optional<HostTree>> rows(streams_.size() * each);
  workers_->run(streams_.size(), [&](size_t s) {
    for (size_t r = 0; r < each; ++r) {
      const std::optional<IntRow> row = streams_[s].next();
      if (!row) return;
      rows[s * each + r] = shared_->converter->convert(*row);
    }
  });
  const auto there = std::ranges::count_if(rows, [](const auto& row) { return row.has_value(); });
  const bool more_elsewhere = num_batches_.has_value();
  if (there == 0 && !more_elsewhere) return std::nullopt;
  if (drop_remainder_ && static_cast<size_t>(there) < rows.size()) return std::nullopt;
  ++batches_taken_;
  return assemble(rows);
}

HostTree SeqIOInput::assemble(const std::vector<std::optional<HostTree>>& rows) const {
  HostTree batch;
  for (const auto& [name, type] : spec_) {
    HostArray array(type);
    if (name == kSampleWeights) {
      for (size_t r = 0; r < rows.size(); ++r) array.mutable_values<float>()[r] = rows[r] ? 1.0F : 0.0F;
      batch.emplace(name, std::move(array));
      continue;
    }
    const size_t bytes = array.size_bytes() / rows.size();
    const bool is_paddings = name.ends_with("paddings");
    const bool is_weights = name.ends_with("weights");
    for (size_t r = 0; r < rows.size(); ++r) {
      std::byte* const to = array.mutable_bytes().data() + r * bytes;
      const HostTree* const row = rows[r] ? &*rows[r] : filler_.empty() ? nullptr : &filler_;
      if (row != nullptr) std::memcpy(to, row->at(name).bytes().data(), bytes);
      if (rows[r] || (row != nullptr && !annotate_)) continue;
      auto* const values = reinterpret_cast<float*>(to);
      if (is_weights) std::fill_n(values, bytes / sizeof(float), 0.0F);
      if (is_paddings) std::fill_n(values, bytes / sizeof(float), 1.0F);
    }
    batch.emplace(name, std::move(array));
  }
  return batch;
}

std::string SeqIOInput::save_position() const {
  nlohmann::json positions = nlohmann::json::array();
  for (const RowStream& stream : streams_) {
    const StreamPosition p = stream.position();
    positions.push_back({p.record, p.example, p.row, p.in_window});
  }
  return nlohmann::json{{"num_streams", shared_->num_streams},
                        {"first_stream", first_stream()},
                        {"positions", std::move(positions)},
                        {"batches", batches_taken_},
                        {"packing", static_cast<int>(shared_->packing)},
                        {"seed", seed()},
                        {"dataset", identity_.fingerprint},
                        {"dataset_name", identity_.name}}
      .dump();
}

void SeqIOInput::restore_position(std::span<const std::string> states) {
  std::map<int64_t, StreamPosition> positions;
  int64_t batches = 0;
  for (const std::string& text : states) {
    try {
      const nlohmann::json state = nlohmann::json::parse(text);
      const DatasetIdentity saved{state.at("dataset_name"), state.at("dataset")};
      if (!same_dataset(saved, identity_, common().on_dataset_change, name())) return rewind();
      if (state.at("num_streams") != shared_->num_streams) {
        fail<RuntimeError>(
            "input {}: the saved position has {} streams, this run has {} (a stream is a row of the global batch "
            "unless "
            "num_streams is set); keep the global batch size, or set num_streams={}",
            name(), state.at("num_streams").get<int64_t>(), shared_->num_streams,
            state.at("num_streams").get<int64_t>());
      }
      if (state.at("packing") != static_cast<int>(shared_->packing)) {
        fail<RuntimeError>("input {}: the saved position was packed in another way; keep `packing` as it was", name());
      }
      batches = state.at("batches");
      int64_t stream = state.at("first_stream");
      for (const auto& p : state.at("positions")) positions[stream++] = {p.at(0), p.at(1), p.at(2), p.at(3)};
    } catch (const nlohmann::json::exception&) {
      fail<RuntimeError>("input {}: saved position \"{:.80}\" is damaged or of another kind of input", name(), text);
    }
  }
  for (size_t i = 0; i < streams_.size(); ++i) {
    const int64_t stream = first_stream() + static_cast<int64_t>(i);
    const auto found = positions.find(stream);
    if (found == positions.end()) {
      fail<RuntimeError>(
          "input {}: the {} saved position(s) have no stream {}; give those of all hosts of the saved run", name(),
          states.size(), stream);
    }
    streams_[i].seek(found->second);
  }
  batches_taken_ = batches;
}

}  // namespace pax::data

template const pax::config::ConfigType& pax::config::type_of<pax::data::SeqIOInput::Config>();
