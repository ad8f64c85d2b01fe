#include "pax/plan/hlo.h"

#include <algorithm>
#include <charconv>

#include "pax/base/error.h"
#include "pax/data/wire.h"
#include "pax/plan/replica_groups.h"

namespace pax {
namespace {

using data::WireReader;

// Field numbers of xla/service/hlo.proto and xla/xla_data.proto.
namespace field {
constexpr uint32_t kModule = 1;                                                           // HloModuleProtoWithConfig
constexpr uint32_t kComputations = 3, kEntryId = 6, kSchedule = 7;                        // HloModuleProto
constexpr uint32_t kScheduleSequences = 1, kMapKey = 1, kMapValue = 2, kSequenceIds = 1;  // HloScheduleProto
constexpr uint32_t kComputationName = 1, kInstructions = 2, kComputationId = 5, kRootId = 6;  // HloComputationProto
// HloInstructionProto
constexpr uint32_t kName = 1, kOpcode = 2, kShape = 3, kMetadata = 7, kLiteral = 8, kCustomCallTarget = 28,
                   kDotDimensions = 30, kId = 35, kOperandIds = 36, kCalledIds = 38, kBackendConfig = 43,
                   kReplicaGroups = 49, kSourceTargetPairs = 52, kDeviceList = 87, kIotaGroups = 92,
                   kMeshAxesGroups = 93;
constexpr uint32_t kOpName = 2;                                                         // OpMetadata
constexpr uint32_t kElementType = 2, kDimensions = 3, kTuple = 4;                       // ShapeProto
constexpr uint32_t kLhsContracting = 1;                                                 // DotDimensionNumbers
constexpr uint32_t kLiteralS32 = 4, kLiteralS64 = 5, kLiteralU32 = 6, kLiteralU64 = 7;  // LiteralProto
}  // namespace field

HloShape read_shape(std::string_view bytes) {
  HloShape shape;
  WireReader reader(bytes);
  while (const auto at = reader.next()) {
    if (at->number == field::kElementType) shape.element_type = static_cast<int64_t>(at->value);
    if (at->number == field::kDimensions) append_numbers(*at, shape.dims);
    if (at->number == field::kTuple) shape.tuple.push_back(read_shape(at->bytes));
  }
  return shape;
}

/// The only element of an integer literal.
std::optional<int64_t> read_constant(std::string_view bytes) {
  WireReader reader(bytes);
  std::vector<int64_t> values;
  while (const auto at = reader.next()) {
    if (at->number >= field::kLiteralS32 && at->number <= field::kLiteralU64) append_numbers(*at, values);
  }
  return values.size() == 1 ? std::optional(values[0]) : std::nullopt;
}

std::vector<int64_t> numbers_of_field(std::string_view bytes, uint32_t number) {
  std::vector<int64_t> values;
  WireReader reader(bytes);
  while (const auto at = reader.next()) {
    if (at->number == number) append_numbers(*at, values);
  }
  return values;
}

std::string_view bytes_of_field(std::string_view bytes, uint32_t number) {
  WireReader reader(bytes);
  while (const auto at = reader.next()) {
    if (at->number == number) return at->bytes;
  }
  return {};
}

HloInstruction read_instruction(std::string_view bytes) {
  HloInstruction out;
  WireReader reader(bytes);
  while (const auto at = reader.next()) {
    switch (at->number) {
      case field::kName:
        out.name = at->bytes;
        break;
      case field::kOpcode:
        out.opcode = at->bytes;
        break;
      case field::kShape:
        out.shape = read_shape(at->bytes);
        break;
      case field::kMetadata:
        out.op_name = bytes_of_field(at->bytes, field::kOpName);
        break;
      case field::kLiteral:
        out.constant = read_constant(at->bytes);
        break;
      case field::kCustomCallTarget:
        out.custom_call_target = at->bytes;
        break;
      case field::kDotDimensions:
        out.contracted_dims = numbers_of_field(at->bytes, field::kLhsContracting);
        break;
      case field::kId:
        out.id = static_cast<int64_t>(at->value);
        break;
      case field::kOperandIds:
        append_numbers(*at, out.operands);
        break;
      case field::kCalledIds:
        append_numbers(*at, out.called);
        break;
      case field::kBackendConfig:
        out.backend_config = at->bytes;
        break;
      case field::kReplicaGroups:
        out.groups.push_back(numbers_of_field(at->bytes, 1));
        break;
      case field::kSourceTargetPairs: {
        const auto source = numbers_of_field(at->bytes, 1), target = numbers_of_field(at->bytes, 2);
        out.source_target_pairs.emplace_back(source.empty() ? 0 : source[0], target.empty() ? 0 : target[0]);
        break;
      }
      case field::kDeviceList:
        out.groups = read_device_list(at->bytes);
        break;
      case field::kIotaGroups:
        out.groups = read_iota_groups(at->bytes);
        break;
      case field::kMeshAxesGroups:
        out.groups = read_mesh_axes_groups(at->bytes);
        break;
      default:
        break;
    }
  }
  return out;
}

HloComputation read_computation(std::string_view bytes) {
  HloComputation out;
  WireReader reader(bytes);
  while (const auto at = reader.next()) {
    switch (at->number) {
      case field::kComputationName:
        out.name = at->bytes;
        break;
      case field::kInstructions:
        out.instructions.push_back(read_instruction(at->bytes));
        break;
      case field::kComputationId:
        out.id = static_cast<int64_t>(at->value);
        break;
      case field::kRootId:
        out.root = static_cast<int64_t>(at->value);
        break;
      default:
        break;
    }
  }
  return out;
}

/// Order of the instructions of each computation that has one.
std::unordered_map<int64_t, std::vector<int64_t>> read_schedule(std::string_view bytes) {
  std::unordered_map<int64_t, std::vector<int64_t>> sequences;
  WireReader reader(bytes);
  while (const auto at = reader.next()) {
    if (at->number != field::kScheduleSequences) continue;
    const auto key = numbers_of_field(at->bytes, field::kMapKey);
    if (key.empty()) continue;
    sequences[key[0]] = numbers_of_field(bytes_of_field(at->bytes, field::kMapValue), field::kSequenceIds);
  }
  return sequences;
}

void put_in_order(HloComputation& computation, const std::vector<int64_t>& order) {
  std::unordered_map<int64_t, size_t> rank;
  for (size_t i = 0; i < order.size(); ++i) rank[order[i]] = i;
  const auto rank_of = [&](const HloInstruction& instruction) {
    const auto at = rank.find(instruction.id);
    return at == rank.end() ? order.size() : at->second;
  };
  std::ranges::stable_sort(computation.instructions, {}, rank_of);
}

int64_t element_bytes(int64_t element_type) {
  // PRIMITIVE types of xla_data.proto: pred, s8, s16, s32, s64, u8, u16, u32, u64, f16, f32, f64, …, bf16 = 16.
  static constexpr int64_t kBytes[] = {0, 1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 4, 8, 0, 0, 8, 2, 0, 16};
  if (element_type >= 0 && element_type < static_cast<int64_t>(std::size(kBytes))) return kBytes[element_type];
  return 1;  // 8-bit floats and smaller
}

}  // namespace

int64_t HloShape::num_elements() const {
  int64_t count = 1;
  for (const int64_t dim : dims) count *= dim;
  return count;
}

int64_t HloShape::bytes() const {
  if (tuple.empty()) return num_elements() * element_bytes(element_type);
  int64_t sum = 0;
  for (const HloShape& part : tuple) sum += part.bytes();
  return sum;
}

HloModule::HloModule(std::string_view format, std::string bytes)
    : bytes_(std::make_unique<const std::string>(std::move(bytes))) {
  if (format == "hlo_with_config") {
    read_module(bytes_of_field(*bytes_, field::kModule));
  } else if (format == "hlo") {
    read_module(*bytes_);
  } else {
    fail<RuntimeError>("compiled program: its format is \"{}\"; plans read hlo and hlo_with_config", format);
  }
}

void HloModule::read_module(std::string_view bytes) {
  std::unordered_map<int64_t, std::vector<int64_t>> schedule;
  WireReader reader(bytes);
  while (const auto at = reader.next()) {
    if (at->number == field::kEntryId) entry_ = static_cast<int64_t>(at->value);
    if (at->number == field::kSchedule) schedule = read_schedule(at->bytes);
    if (at->number != field::kComputations) continue;
    HloComputation computation = read_computation(at->bytes);
    computations_[computation.id] = std::move(computation);
  }
  for (auto& [id, computation] : computations_) {
    if (const auto order = schedule.find(id); order != schedule.end()) put_in_order(computation, order->second);
    for (size_t i = 0; i < computation.instructions.size(); ++i) {
      computation.by_id[computation.instructions[i].id] = i;
    }
  }
  if (!computations_.contains(entry_)) fail<RuntimeError>("compiled program: it has no entry computation {}", entry_);
}

const HloComputation& HloModule::computation(int64_t id) const {
  const auto at = computations_.find(id);
  if (at == computations_.end()) fail<RuntimeError>("compiled program: computation {} is missing", id);
  return at->second;
}

int64_t HloModule::trip_count(const HloInstruction& loop) const {
  if (const size_t at = loop.backend_config.find("known_trip_count"); at != std::string_view::npos) {
    if (const auto n = config_number(loop.backend_config.substr(at), "n")) return std::max<int64_t>(*n, 1);
  }
  if (loop.called.size() < 2) return 1;
  int64_t bound = 1;
  for (const HloInstruction& instruction : computation(loop.called[1]).instructions) {
    if (instruction.opcode == "constant" && instruction.constant) bound = std::max(bound, *instruction.constant);
    if (instruction.opcode != "fusion" || instruction.called.empty()) continue;
    for (const HloInstruction& inner : computation(instruction.called[0]).instructions) {
      if (inner.opcode == "constant" && inner.constant) bound = std::max(bound, *inner.constant);
    }
  }
  return bound;
}

std::optional<int64_t> config_number(std::string_view backend_config, std::string_view key) {
  size_t at = backend_config.find('"' + std::string(key) + '"');
  if (at == std::string_view::npos) return std::nullopt;
  at += key.size() + 2;
  while (at < backend_config.size() &&
         (backend_config[at] == ':' || backend_config[at] == ' ' || backend_config[at] == '"')) {
    ++at;
  }
  int64_t number = 0;
  const char* const end = backend_config.data() + backend_config.size();
  const auto [rest, error] = std::from_chars(backend_config.data() + at, end, number);
  if (error != std::errc() || rest == backend_config.data() + at) return std::nullopt;
  return number;
}

}  // namespace pax
