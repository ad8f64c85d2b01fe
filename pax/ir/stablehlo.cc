#include "pax/ir/stablehlo.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "pax/base/error.h"
#include "pax/base/text.h"

namespace pax {
namespace {

void append_type(std::string& out, const TensorType& type) {
  out += "tensor<";
  for (const int64_t dim : type.shape) fmt::format_to(std::back_inserter(out), "{}x", dim);
  out += mlir_name(type.dtype);
  out += ">";
}

std::string type_text(const TensorType& type) {
  std::string out;
  append_type(out, type);
  return out;
}

/// One element in MLIR's dense syntax; floats exactly, special values by their bits.
std::string element_text(DType dtype, const std::byte* at) {
  if (dtype == DType::kF32) {
    float value = 0;
    std::memcpy(&value, at, sizeof(value));
    if (!std::isfinite(value)) return fmt::format("0x{:08X}", std::bit_cast<uint32_t>(value));
    return fmt::format("{:.9e}", value);
  }
  if (dtype == DType::kF64) {
    double value = 0;
    std::memcpy(&value, at, sizeof(value));
    if (!std::isfinite(value)) return fmt::format("0x{:016X}", std::bit_cast<uint64_t>(value));
    return fmt::format("{:.17e}", value);
  }
  if (is_floating(dtype)) {
    uint16_t bits = 0;
    std::memcpy(&bits, at, byte_size(dtype));
    return fmt::format("0x{:0{}X}", bits, 2 * byte_size(dtype));
  }
  if (dtype == DType::kPred) return *at != std::byte{0} ? "true" : "false";
  uint64_t bits = 0;
  std::memcpy(&bits, at, byte_size(dtype));
  if (!is_signed(dtype)) return fmt::format("{}", bits);
  const int shift = 64 - 8 * static_cast<int>(byte_size(dtype));
  return fmt::format("{}", static_cast<int64_t>(bits << shift) >> shift);
}

/// `dense<…> : tensor<…>`: a splat when all elements are equal, hexadecimal bytes when there are many.
std::string dense_text(const HostArray& array) {
  constexpr size_t kHexFrom = 16;
  const size_t step = byte_size(array.dtype());
  const auto count = static_cast<size_t>(array.shape().num_elements());
  const std::byte* data = array.bytes().data();
  bool splat = count > 0;
  for (size_t i = 1; i < count && splat; ++i) splat = std::memcmp(data, data + i * step, step) == 0;
  std::string out = "dense<";
  const bool packed_bits = array.dtype() == DType::kPred || array.dtype() == DType::kS4 || array.dtype() == DType::kU4;
  if (count == 0) return "dense<> : " + type_text(array.type());
  if (splat) {
    out += element_text(array.dtype(), data);
  } else if (count >= kHexFrom && !packed_bits) {
    out += "\"0x";
    for (const std::byte b : array.bytes()) fmt::format_to(std::back_inserter(out), "{:02X}", static_cast<int>(b));
    out += "\"";
  } else {
    const auto nest = [&](const auto& self, int64_t dim, size_t& at) -> void {
      if (dim == array.shape().rank()) {
        out += element_text(array.dtype(), data + at++ * step);
        return;
      }
      out += "[";
      for (int64_t i = 0; i < array.shape()[dim]; ++i) {
        if (i > 0) out += ", ";
        self(self, dim + 1, at);
      }
      out += "]";
    };
    size_t at = 0;
    nest(nest, 0, at);
  }
  return out + "> : " + type_text(array.type());
}

std::string bracketed(const std::vector<int64_t>& numbers) { return fmt::format("[{}]", join(numbers, ", ")); }

struct AttrText {
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(int64_t value) const { return fmt::format("{} : i64", value); }
  std::string operator()(double value) const { return fmt::format("{:.9e} : f32", value); }
  std::string operator()(DType value) const { return std::string(mlir_name(value)); }
  std::string operator()(const std::string& value) const { return json_quote(value); }
  std::string operator()(const std::vector<int64_t>& value) const {
    return value.empty() ? "array<i64>" : fmt::format("array<i64: {}>", join(value, ", "));
  }
  std::string operator()(const std::vector<bool>& value) const {
    if (value.empty()) return "array<i1>";
    std::string out = "array<i1: ";
    for (size_t i = 0; i < value.size(); ++i)
      out += fmt::format("{}{}", i > 0 ? ", " : "", value[i] ? "true" : "false");
    return out + ">";
  }
  std::string operator()(const DotDims& dims) const {
    return fmt::format(
        "#stablehlo.dot<lhs_batching_dimensions = {}, rhs_batching_dimensions = {}, lhs_contracting_dimensions = {}, "
        "rhs_contracting_dimensions = {}>",
        bracketed(dims.lhs_batch), bracketed(dims.rhs_batch), bracketed(dims.lhs_contract),
        bracketed(dims.rhs_contract));
  }
  std::string operator()(const GatherDims& dims) const {
    return fmt::format(
        "#stablehlo.gather<offset_dims = {}, collapsed_slice_dims = {}, operand_batching_dims = {}, "
        "start_indices_batching_dims = {}, start_index_map = {}, index_vector_dim = {}>",
        bracketed(dims.window), bracketed(dims.collapsed), bracketed(dims.operand_batch), bracketed(dims.indices_batch),
        bracketed(dims.index_map), dims.index_vector_dim);
  }
  std::string operator()(const ScatterDims& dims) const {
    return fmt::format(
        "#stablehlo.scatter<update_window_dims = {}, inserted_window_dims = {}, input_batching_dims = {}, "
        "scatter_indices_batching_dims = {}, scatter_dims_to_operand_dims = {}, index_vector_dim = {}>",
        bracketed(dims.window), bracketed(dims.collapsed), bracketed(dims.operand_batch), bracketed(dims.indices_batch),
        bracketed(dims.index_map), dims.index_vector_dim);
  }
  std::string operator()(const ConvDims& dims) const {
    return fmt::format(
        "#stablehlo.conv<raw input_batch_dimension = {}, input_feature_dimension = {}, "
        "input_spatial_dimensions = {}, kernel_input_feature_dimension = {}, "
        "kernel_output_feature_dimension = {}, kernel_spatial_dimensions = {}, "
        "output_batch_dimension = {}, output_feature_dimension = {}, output_spatial_dimensions = {}>",
        dims.input_batch, dims.input_feature, bracketed(dims.input_spatial), dims.kernel_input_feature,
        dims.kernel_output_feature, bracketed(dims.kernel_spatial), dims.output_batch, dims.output_feature,
        bracketed(dims.output_spatial));
  }
  std::string operator()(const PaddingPairs& padding) const {
    if (padding.pairs.empty()) return "dense<> : tensor<0x2xi64>";
    std::string out = "dense<[";
    for (const auto& [low, high] : padding.pairs) {
      if (out.back() != '[') out += ", ";
      out += fmt::format("[{}, {}]", low, high);
    }
    return out + fmt::format("]> : tensor<{}x2xi64>", padding.pairs.size());
  }
  std::string operator()(const Mlir& mlir) const { return mlir.text; }
  std::string operator()(const HostArray& array) const { return dense_text(array); }
  std::string operator()(const Sharding& sharding) const {
    return fmt::format("#sdy.sharding<@mesh, {}>", to_shardy(sharding));
  }
  std::string operator()(const Combiner&) const { return ""; }
  std::string operator()(const std::shared_ptr<const OpExtension>&) const { return ""; }
};

class Writer {
 public:
  Writer(const Graph& graph, const StablehloOptions& options) : graph_(graph), options_(options) {}

  std::string write() {
    names_.assign(graph_.num_values(), -1);
    out_.reserve(graph_.num_nodes() * 160);
    print("module @{} {{\n", options_.module_name);
    if (!options_.mesh.axes.empty()) write_mesh();
    out_ += "func.func public @main(";
    write_arguments();
    out_ += ") -> (";
    write_results();
    out_ += ") {\n";
    write_nodes(0);
    write_terminator("func.return", 0);
    out_ += "}\n}\n";
    out_ += locations_;
    return std::move(out_);
  }

 private:
  template <class... Args>
  void print(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }

  void write_mesh() {
    out_ += "sdy.mesh @mesh = <[";
    for (size_t i = 0; i < options_.mesh.axes.size(); ++i) {
      print("{}\"{}\"={}", i > 0 ? ", " : "", options_.mesh.axes[i], options_.mesh.sizes[i]);
    }
    out_ += "]>\n";
  }

  /// Arguments and results are always spelled out: what is not said to be split is whole on every device, and the
  /// partitioner has no say.
  void write_sharding_attr(std::optional<Sharding> sharding, ValueId value) {
    if (options_.mesh.axes.empty()) return;
    if (!sharding) sharding.emplace();
    const Shape& shape = graph_.value(value).type.shape;
    sharding->dims.resize(static_cast<size_t>(shape.rank()));
    print("sdy.sharding = #sdy.sharding<@mesh, {}>", to_shardy(fit(*std::move(sharding), shape, options_.mesh)));
  }

  void write_arguments() {
    const std::vector<int32_t> alias = aliases();
    const bool sharded = !options_.mesh.axes.empty();
    for (size_t i = 0; i < graph_.arguments().size(); ++i) {
      const Argument& arg = graph_.arguments()[i];
      print("{}%{}: ", i > 0 ? ", " : "", name(arg.value));
      append_type(out_, graph_.value(arg.value).type);
      if (alias[i] < 0 && !sharded) continue;
      out_ += " {";
      write_sharding_attr(arg.sharding, arg.value);
      if (alias[i] >= 0) print("{}tf.aliasing_output = {} : i32", sharded ? ", " : "", alias[i]);
      out_ += "}";
    }
  }

  /// For each argument, the output that takes over its buffer, or -1.
  std::vector<int32_t> aliases() const {
    std::unordered_map<std::string_view, int32_t> by_name;
    for (size_t k = 0; k < graph_.outputs().size(); ++k) {
      by_name.emplace(graph_.outputs()[k].name, static_cast<int32_t>(k));
    }
    std::vector<int32_t> alias(graph_.arguments().size(), -1);
    for (size_t i = 0; i < alias.size(); ++i) {
      const Argument& arg = graph_.arguments()[i];
      const auto at = by_name.find(arg.name);
      if (at == by_name.end()) continue;
      const Output& out = graph_.outputs()[static_cast<size_t>(at->second)];
      if (graph_.value(out.value).type == graph_.value(arg.value).type) alias[i] = at->second;
    }
    return alias;
  }

  /// An output without a sharding of its own has that of the argument whose next value it is.
  std::optional<Sharding> output_sharding(const Output& out) const {
    if (out.sharding) return out.sharding;
    for (const Argument& arg : graph_.arguments()) {
      if (arg.name == out.name) return arg.sharding;
    }
    return std::nullopt;
  }

  void write_results() {
    for (size_t i = 0; i < graph_.outputs().size(); ++i) {
      const Output& out = graph_.outputs()[i];
      if (i > 0) out_ += ", ";
      append_type(out_, graph_.value(out.value).type);
      if (options_.mesh.axes.empty()) continue;
      out_ += " {";
      write_sharding_attr(output_sharding(out), out.value);
      out_ += "}";
    }
  }

  int32_t name(ValueId id) {
    int32_t& number = names_[static_cast<size_t>(id)];
    if (number < 0) number = next_name_++;
    return number;
  }

  void write_nodes(BlockId block) {
    for (const NodeId id : graph_.block(block).nodes) write_node(graph_.node(id));
  }

  void write_node(const Node& n) {
    if (options_.mesh.axes.empty() && n.op->name == "sdy.sharding_constraint") {
      names_[static_cast<size_t>(n.results[0])] = name(n.operands[0]);
      return;
    }
    for (size_t i = 0; i < n.results.size(); ++i) print("{}%{}", i > 0 ? ", " : "", name(n.results[i]));
    const bool full_name = n.op->name.find('.') != std::string_view::npos;
    print("{}\"{}{}\"(", n.results.empty() ? "" : " = ", full_name ? "" : "stablehlo.", n.op->name);
    write_operands(n.operands);
    out_ += ")";
    write_regions(n);
    write_attrs(n);
    out_ += " : ";
    write_signature(n);
    if (options_.locations && n.path != 0) print(" loc(#l{})", n.path), note_location(n.path);
    out_ += "\n";
  }

  void write_operands(const std::vector<ValueId>& ids) {
    for (size_t i = 0; i < ids.size(); ++i) print("{}%{}", i > 0 ? ", " : "", name(ids[i]));
  }

  void write_attrs(const Node& n) {
    bool first = true;
    for (const auto& [key, value] : n.attrs) {
      if (key.starts_with('_')) continue;
      const std::string text = std::visit(AttrText{}, value);
      if (text.empty()) continue;
      print("{}{} = {}", first ? " {" : ", ", key, text);
      first = false;
    }
    if (!first) out_ += "}";
  }

  void write_signature(const Node& n) {
    out_ += "(";
    for (size_t i = 0; i < n.operands.size(); ++i) {
      if (i > 0) out_ += ", ";
      append_type(out_, graph_.value(n.operands[i]).type);
    }
    out_ += ") -> ";
    const bool one = n.results.size() == 1;
    if (!one) out_ += "(";
    for (size_t i = 0; i < n.results.size(); ++i) {
      if (i > 0) out_ += ", ";
      append_type(out_, graph_.value(n.results[i]).type);
    }
    if (!one) out_ += ")";
  }

  void write_regions(const Node& n) {
    const auto* combiner = n.attrs.find<Combiner>("combiner");
    if (combiner == nullptr && n.blocks.empty()) return;
    out_ += " (";
    if (combiner != nullptr) write_combiner(*combiner, graph_.value(n.results[0]).type.dtype);
    for (size_t i = 0; i < n.blocks.size(); ++i) {
      if (i > 0) out_ += ", ";
      write_block(n.blocks[i]);
    }
    out_ += ")";
  }

  void write_combiner(const Combiner& combiner, DType dtype) {
    const std::string type = type_text({dtype, {}});
    const int32_t a = next_name_++;
    const int32_t b = next_name_++;
    const int32_t c = next_name_++;
    print("{{\n^bb0(%{0}: {1}, %{2}: {1}):\n", a, type, b);
    if (combiner.op == "second") {
      print("\"stablehlo.return\"(%{}) : ({}) -> ()\n}}", b, type);
      return;
    }
    print("%{0} = \"stablehlo.{1}\"(%{2}, %{3}) : ({4}, {4}) -> {4}\n", c, combiner.op, a, b, type);
    print("\"stablehlo.return\"(%{}) : ({}) -> ()\n}}", c, type);
  }

  void write_block(BlockId id) {
    const Block& block = graph_.block(id);
    out_ += "{\n";
    if (!block.args.empty()) {
      out_ += "^bb0(";
      for (size_t i = 0; i < block.args.size(); ++i) {
        print("{}%{}: ", i > 0 ? ", " : "", name(block.args[i]));
        append_type(out_, graph_.value(block.args[i]).type);
      }
      out_ += "):\n";
    }
    write_nodes(id);
    write_terminator("stablehlo.return", id);
    out_ += "}";
  }

  void write_terminator(std::string_view op, BlockId id) {
    const std::vector<ValueId>& results = graph_.block(id).results;
    print("\"{}\"(", op);
    write_operands(results);
    out_ += ") : (";
    for (size_t i = 0; i < results.size(); ++i) {
      if (i > 0) out_ += ", ";
      append_type(out_, graph_.value(results[i]).type);
    }
    out_ += ") -> ()\n";
  }

  void note_location(int32_t path) {
    if (static_cast<size_t>(path) >= located_.size()) located_.resize(static_cast<size_t>(path) + 1);
    if (located_[static_cast<size_t>(path)]) return;
    located_[static_cast<size_t>(path)] = true;
    fmt::format_to(std::back_inserter(locations_), "#l{} = loc({})\n", path, json_quote(graph_.path_name(path)));
  }

  const Graph& graph_;
  const StablehloOptions& options_;
  std::string out_;
  std::string locations_;
  std::vector<int32_t> names_;
  std::vector<bool> located_;
  int32_t next_name_ = 0;
};

}  // namespace

std::string to_stablehlo(const Graph& lowered, const StablehloOptions& options) {
  return Writer(lowered, options).write();
}

}  // namespace pax
