#include "pax/interop/huggingface/family.h"

#include <fmt/format.h>

#include "pax/base/error.h"
#include "pax/interop/huggingface/decoder.h"
#include "pax/interop/huggingface/encoder.h"

namespace pax::hf {
namespace {

constexpr Family kFamilies[] = {
    {"bert", bert_plan, "cls.predictions.decoder.weight", "bert.embeddings.word_embeddings.weight"},
    {"gemma", gemma_plan, "lm_head.weight", "model.embed_tokens.weight"},
    {"gemma2", gemma2_plan, "lm_head.weight", "model.embed_tokens.weight"},
    {"gpt2", gpt2_plan, "lm_head.weight", "transformer.wte.weight"},
    {"gpt_neox", gpt_neox_plan, "embed_out.weight", "gpt_neox.embed_in.weight"},
    {"llama", llama_plan, "lm_head.weight", "model.embed_tokens.weight"},
    {"mistral", mistral_plan, "lm_head.weight", "model.embed_tokens.weight"},
    {"mixtral", mixtral_plan, "lm_head.weight", "model.embed_tokens.weight"},
    {"phi3", phi3_plan, "lm_head.weight", "model.embed_tokens.weight"},
    {"qwen2", qwen2_plan, "lm_head.weight", "model.embed_tokens.weight"},
    {"qwen3", qwen3_plan, "lm_head.weight", "model.embed_tokens.weight"},
    {"t5", t5_plan, "lm_head.weight", "shared.weight"},
    {"vit", vit_plan, "", ""},
};

std::string replaced(std::string_view text, std::string_view what, std::string_view with) {
  std::string out(text);
  const size_t at = out.find(what);
  return at == std::string::npos ? out : out.replace(at, what.size(), with);
}

/// Slices of the first dimension of the pattern's left side that belong to a line's own variable.
int64_t slices_of(const TableRow& row, const Sizes& sizes) {
  std::string_view side = row.pattern.substr(0, row.pattern.find(" ->"));
  for (int axis = 0; axis < row.axis; ++axis) {
    side = side.substr((side.starts_with('(') ? side.find(')') + 1 : 1));
    while (side.starts_with(' ')) side.remove_prefix(1);
  }
  const bool group = side.starts_with('(');
  const std::string_view letters = group ? side.substr(1, side.find(')') - 1) : side.substr(0, 1);
  int64_t product = 1;
  for (const char letter : letters) {
    if (letter != ' ') product *= sizes.at(letter);
  }
  return product;
}

/// One line written out for one layer and one expert.
class Expander {
 public:
  Expander(const ModelPlan& plan, const Tree<TensorType>& types, WeightMap& map)
      : plan_(plan), types_(types), map_(map) {}

  void add(const TableRow& row) {
    for (const auto& [placeholder, place] : plan_.places) {
      if (!row.variable.starts_with(placeholder)) continue;
      for (int64_t i = 0; i < place.layers; ++i) add_layer(row, placeholder, place, i);
      return;
    }
    add_part(row, std::string(row.tensor), std::string(row.variable), {});
  }

 private:
  void add_layer(const TableRow& row, std::string_view placeholder, const LayerPlaces& place, int64_t i) {
    const std::string tensor = replaced(row.tensor, "{}", std::to_string(i));
    const int64_t number = place.period == 0 ? i : i % place.period;
    const std::string layer =
        fmt::format("{}{}/x_layers_{}", place.stack, place.period == 0 ? "" : "/repeat/sub", number);
    const std::string variable = replaced(row.variable, placeholder, layer);
    std::vector<int64_t> indices;
    if (place.period != 0) indices.push_back(i / place.period);
    if (row.tensor.find("{e}") == std::string_view::npos) {
      add_part(row, tensor, variable, indices);
      return;
    }
    for (int64_t e = 0; e < plan_.experts; ++e) {
      std::vector<int64_t> with_expert = indices;
      with_expert.push_back(e);
      add_part(row, replaced(tensor, "{e}", std::to_string(e)), variable, with_expert);
    }
  }

  void add_part(const TableRow& row, const std::string& tensor, const std::string& variable,
                const std::vector<int64_t>& indices) {
    if (!types_.contains(variable)) return;
    const auto [at, is_new] = rows_.try_emplace(tensor, map_.rows.size());
    if (is_new) map_.rows.push_back({tensor, {}});
    WeightRow& out = map_.rows[at->second];
    WeightPart part{.variable = variable, .indices = indices, .pattern = std::string(row.pattern)};
    part.pick = row.pick;
    if (row.axis >= 0) {
      part.axis = row.axis;
      part.size = slices_of(row, plan_.sizes);
      part.start = out.parts.empty() ? 0 : out.parts.back().start + out.parts.back().size;
    }
    out.parts.push_back(std::move(part));
  }

  const ModelPlan& plan_;
  const Tree<TensorType>& types_;
  WeightMap& map_;
  Tree<size_t> rows_;
};

}  // namespace

std::span<const Family> families() { return kFamilies; }

std::vector<TableRow> rows_of(std::initializer_list<std::span<const TableRow>> tables) {
  std::vector<TableRow> rows;
  for (const std::span<const TableRow> table : tables) rows.insert(rows.end(), table.begin(), table.end());
  return rows;
}

const Family& family_of(const HfConfig& config) {
  std::string known;
  for (const Family& family : kFamilies) {
    if (family.model_type == config.model_type()) return family;
    known += (known.empty() ? "" : ", ") + std::string(family.model_type);
  }
  config.fail("model_type", fmt::format("\"{}\" is not supported; supported are {}", config.model_type(), known));
}

WeightMap weight_map(const ModelPlan& plan, const Tree<TensorType>& types) {
  WeightMap map{.rows = {}, .sizes = plan.sizes, .prefix = plan.prefix, .ignored = plan.ignored};
  Expander expander(plan, types, map);
  for (const TableRow& row : plan.table) expander.add(row);
  return map;
}

}  // namespace pax::hf
