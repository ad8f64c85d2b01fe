#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <numeric>

#include "pax/base/error.h"
#include "pax/ops/broadcast.h"
#include "pax/ops/constant.h"
#include "pax/ops/convert.h"
#include "pax/ops/dot.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/logic.h"
#include "pax/ops/reduce.h"
#include "pax/ops/require.h"
#include "pax/ops/reshape.h"

namespace pax {
namespace {

using Dims = std::vector<int64_t>;

/// Letters are their character; the dimension that an ellipsis has at place k from its end is kEllipsis + k.
using Labels = std::vector<int>;
constexpr int kEllipsis = 256;

bool contains(const Labels& labels, int label) { return std::ranges::find(labels, label) != labels.end(); }
bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

/// An operand and what its dimensions are called.
struct Term {
  Tensor value;
  Labels labels;

  bool has(int label) const { return contains(labels, label); }
  int64_t place(int label) const { return std::ranges::find(labels, label) - labels.begin(); }
  int64_t size(int label) const { return value.dim(place(label)); }
};

/// Sums over dimensions for whose label `goes` holds.
template <class Goes>
void sum_out(Term& term, Goes goes) {
  Dims dims;
  Labels kept;
  for (const int label : term.labels) {
    if (goes(label)) {
      dims.push_back(term.place(label));
    } else {
      kept.push_back(label);
    }
  }
  term.value = reduce_sum(term.value, std::move(dims));
  term.labels = std::move(kept);
}

/// The term's value with its dimensions as `labels` says, which may have more: those get size 1.
Tensor arrange(const Term& term, const Labels& labels) {
  Dims permutation;
  Dims shape;
  for (const int label : labels) {
    if (term.has(label)) permutation.push_back(term.place(label));
    shape.push_back(term.has(label) ? term.size(label) : 1);
  }
  return reshape(transpose(term.value, std::move(permutation)), Shape(std::move(shape)));
}

/// A letter twice: only where both of its dimensions are at the same place counts.
void take_diagonals(Term& term) {
  for (size_t i = 0; i < term.labels.size(); ++i) {
    for (size_t k = term.labels.size() - 1; k > i; --k) {
      if (term.labels[k] != term.labels[i]) continue;
      Graph& graph = term.value.graph();
      const TensorType places{DType::kS32, term.value.shape()};
      const Tensor same =
          eq(iota(graph, places, static_cast<int64_t>(i)), iota(graph, places, static_cast<int64_t>(k)));
      term.value = reduce_sum(select(same, term.value, 0.0), {static_cast<int64_t>(k)});
      term.labels.erase(term.labels.begin() + static_cast<ptrdiff_t>(k));
    }
  }
}

/// The text of an einsum taken apart: a term for every operand, and the labels of the result.
class Parser {
 public:
  Parser(std::string_view equation, const std::vector<Tensor>& operands) : equation_(equation), operands_(operands) {
    for (const char c : equation) {
      if (c != ' ') text_ += c;
    }
  }

  void parse(std::vector<Term>& terms, Labels& output) {
    const size_t arrow = text_.find("->");
    const std::string_view left = std::string_view(text_).substr(0, arrow);
    const auto commas = static_cast<size_t>(std::ranges::count(left, ','));
    if (commas + 1 != operands_.size()) {
      fail(fmt::format("names {} operands, but {} are given", commas + 1, operands_.size()));
    }
    size_t at = 0;
    for (size_t i = 0; i < operands_.size(); ++i) {
      const size_t comma = std::min(left.find(',', at), left.size());
      terms.push_back({operands_[i], operand_labels(left.substr(at, comma - at), i)});
      at = comma + 1;
    }
    check_sizes(terms);
    output = arrow == std::string::npos ? implied_output(terms) : output_labels(text_.substr(arrow + 2), terms);
  }

 private:
  [[noreturn]] void fail(std::string_view message) const {
    fail_op(operands_[0].graph(), fmt::format("einsum \"{}\"", equation_), message);
  }

  Labels labels(std::string_view text, int64_t open) const {
    Labels out;
    const size_t dots = text.find("...");
    for (size_t i = 0; i < text.size(); ++i) {
      if (i == dots) {
        for (int64_t k = open; k > 0; --k) out.push_back(kEllipsis + static_cast<int>(k));
        i += 2;
      } else if (is_letter(text[i])) {
        out.push_back(text[i]);
      } else {
        fail(fmt::format("'{}' is no letter; the form is \"btd,df->btf\", with \"...\" for dimensions in front",
                         text[i]));
      }
    }
    return out;
  }

  Labels operand_labels(std::string_view text, size_t operand) const {
    const auto letters = static_cast<int64_t>(std::ranges::count_if(text, is_letter));
    const bool dots = text.find("...") != std::string_view::npos;
    const int64_t open = operands_[operand].rank() - letters;
    if (open < 0 || (!dots && open > 0)) {
      fail(fmt::format("operand {} is {}, but \"{}\" names {} dimensions", operand,
                       to_string(operands_[operand].type()), text, letters));
    }
    return labels(text, open);
  }

  Labels output_labels(std::string_view text, const std::vector<Term>& terms) const {
    int open = 0;
    for (const Term& term : terms) {
      for (const int label : term.labels) open = std::max(open, label - kEllipsis);
    }
    const Labels output = labels(text, text.find("...") == std::string_view::npos ? 0 : open);
    for (const int label : output) {
      if (std::ranges::count(output, label) > 1) fail(fmt::format("{} is twice in the result", name(label)));
      if (std::ranges::none_of(terms, [&](const Term& term) { return term.has(label); })) {
        fail(fmt::format("{} is in the result but in no operand", name(label)));
      }
    }
    return output;
  }

  /// NumPy's: the dimensions of ellipses, then the letters that occur once, in alphabetical order.
  static Labels implied_output(const std::vector<Term>& terms) {
    std::vector<int> count(kEllipsis);
    int open = 0;
    for (const Term& term : terms) {
      for (const int label : term.labels) {
        if (label < kEllipsis) ++count[static_cast<size_t>(label)];
        open = std::max(open, label - kEllipsis);
      }
    }
    Labels output;
    for (int k = open; k > 0; --k) output.push_back(kEllipsis + k);
    for (int label = 0; label < kEllipsis; ++label) {
      if (count[static_cast<size_t>(label)] == 1) output.push_back(label);
    }
    return output;
  }

  static std::string name(int label) {
    return label < kEllipsis ? std::string(1, static_cast<char>(label))
                             : fmt::format("dimension {} from the end of \"...\"", label - kEllipsis);
  }

  void check_sizes(const std::vector<Term>& terms) const {
    struct Seen {
      int label;
      int64_t size;
      size_t operand;
    };
    std::vector<Seen> seen;
    for (size_t i = 0; i < terms.size(); ++i) {
      for (size_t k = 0; k < terms[i].labels.size(); ++k) {
        const Seen here{terms[i].labels[k], operands_[i].dim(static_cast<int64_t>(k)), i};
        const auto known = std::ranges::find(seen, here.label, &Seen::label);
        if (known == seen.end()) {
          seen.push_back(here);
          continue;
        }
        if (known->size == here.size) continue;
        if (here.label > kEllipsis && (known->size == 1 || here.size == 1)) {
          known->size = std::max(known->size, here.size);
          continue;
        }
        fail(fmt::format("{} is {} in operand {}, {}, but {} in operand {}, {}", name(here.label), known->size,
                         known->operand, to_string(operands_[known->operand].type()), here.size, i,
                         to_string(operands_[i].type())));
      }
    }
  }

  std::string_view equation_;
  const std::vector<Tensor>& operands_;
  std::string text_;
};

/// Takes pairs of terms together until one is left.
class Contraction {
 public:
  Contraction(std::vector<Term> terms, Labels output, const DotOptions& options)
      : terms_(std::move(terms)), output_(std::move(output)), options_(options) {}

  Tensor run() {
    for (Term& term : terms_) take_diagonals(term);
    drop_broadcast_ones();
    while (terms_.size() > 1) take_cheapest_pair();
    sum_out(terms_[0], [&](int label) { return !contains(output_, label); });
    return arrange(terms_[0], output_);
  }

 private:
  /// A dimension of an ellipsis that is 1 here and larger elsewhere is left out here.
  void drop_broadcast_ones() {
    for (Term& term : terms_) {
      const Labels labels = term.labels;
      for (const int label : labels) {
        const bool larger =
            std::ranges::any_of(terms_, [&](const Term& other) { return other.has(label) && other.size(label) > 1; });
        if (label < kEllipsis || term.size(label) != 1 || !larger) continue;
        term.value = squeeze(term.value, {term.place(label)});
        std::erase(term.labels, label);
      }
    }
  }

  /// Whether the label is still used when terms `a` and `b` are gone.
  bool needed(int label, size_t a, size_t b) const {
    if (contains(output_, label)) return true;
    for (size_t i = 0; i < terms_.size(); ++i) {
      if (i != a && i != b && terms_[i].has(label)) return true;
    }
    return false;
  }

  double result_size(size_t a, size_t b) const {
    double size = 1;
    for (const int label : terms_[a].labels) {
      if (needed(label, a, b)) size *= static_cast<double>(terms_[a].size(label));
    }
    for (const int label : terms_[b].labels) {
      if (needed(label, a, b) && !terms_[a].has(label)) size *= static_cast<double>(terms_[b].size(label));
    }
    return size;
  }

  void take_cheapest_pair() {
    size_t best_a = 0;
    size_t best_b = 1;
    for (size_t a = 0; a < terms_.size(); ++a) {
      for (size_t b = a + 1; b < terms_.size(); ++b) {
        if (result_size(a, b) < result_size(best_a, best_b)) best_a = a, best_b = b;
      }
    }
    Term& a = terms_[best_a];
    Term& b = terms_[best_b];
    sum_out(a, [&](int label) { return !b.has(label) && !needed(label, best_a, best_b); });
    sum_out(b, [&](int label) { return !a.has(label) && !needed(label, best_a, best_b); });
    const Labels contracted = [&] {
      Labels labels;
      for (const int label : a.labels) {
        if (b.has(label) && !needed(label, best_a, best_b)) labels.push_back(label);
      }
      return labels;
    }();
    a = contracted.empty() ? product(a, b) : dot(a, b, contracted);
    terms_.erase(terms_.begin() + static_cast<ptrdiff_t>(best_b));
  }

  /// Nothing to sum over: element by element, in the order of the result.
  Term product(const Term& a, const Term& b) const {
    Labels labels;
    const auto add = [&](int label) {
      if ((a.has(label) || b.has(label)) && !contains(labels, label)) labels.push_back(label);
    };
    for (const int label : output_) add(label);
    for (const int label : a.labels) add(label);
    for (const int label : b.labels) add(label);
    const DType dtype = options_.preferred.value_or(a.value.dtype());
    const bool same = a.value.dtype() == b.value.dtype();
    const Tensor x = arrange(a, labels);
    const Tensor y = arrange(b, labels);
    return {same ? convert(x, dtype) * convert(y, dtype) : x * y, labels};
  }

  /// As a dot_general, with the operands in the order that spares a transpose of the result.
  Term dot(const Term& a, const Term& b, const Labels& contracted) const {
    Labels batch;
    for (const int label : output_) {
      if (a.has(label) && b.has(label)) batch.push_back(label);
    }
    for (const int label : a.labels) {
      if (b.has(label) && !contains(contracted, label) && !contains(batch, label)) batch.push_back(label);
    }
    const Labels direct = result_labels(a, b, batch, contracted);
    const Labels swapped = result_labels(b, a, batch, contracted);
    const bool swap = direct != output_ && swapped == output_;
    const Term& lhs = swap ? b : a;
    const Term& rhs = swap ? a : b;
    // Ascending on the right, where weights stand.
    Labels order = contracted;
    std::ranges::sort(order, {}, [&](int label) { return rhs.place(label); });
    DotDims dims;
    for (const int label : batch) {
      dims.lhs_batch.push_back(lhs.place(label));
      dims.rhs_batch.push_back(rhs.place(label));
    }
    for (const int label : order) {
      dims.lhs_contract.push_back(lhs.place(label));
      dims.rhs_contract.push_back(rhs.place(label));
    }
    return {dot_general(lhs.value, rhs.value, std::move(dims), options_), swap ? swapped : direct};
  }

  static Labels result_labels(const Term& lhs, const Term& rhs, const Labels& batch, const Labels& contracted) {
    Labels labels = batch;
    for (const Term* term : {&lhs, &rhs}) {
      for (const int label : term->labels) {
        if (!contains(batch, label) && !contains(contracted, label)) labels.push_back(label);
      }
    }
    return labels;
  }

  std::vector<Term> terms_;
  Labels output_;
  const DotOptions& options_;
};

}  // namespace

Tensor einsum(std::string_view equation, std::vector<Tensor> operands, DotOptions options) {
  if (operands.empty()) fail<ShapeError>("einsum \"{}\": no operands are given", equation);
  for (const Tensor& operand : operands) operand.type();  // Throws on a null Tensor.
  std::vector<Term> terms;
  Labels output;
  Parser(equation, operands).parse(terms, output);
  const Tensor result = Contraction(std::move(terms), std::move(output), options).run();
  return options.preferred ? convert(result, *options.preferred) : result;
}

Tensor einsum(std::string_view equation, Tensor a, Tensor b, DotOptions options) {
  return einsum(equation, std::vector<Tensor>{a, b}, options);
}

Tensor einsum(std::string_view equation, Tensor a) { return einsum(equation, std::vector<Tensor>{a}); }

}  // namespace pax
