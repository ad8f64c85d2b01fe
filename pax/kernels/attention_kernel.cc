#include <algorithm>
#include <optional>

#include "pax/kernels/attention_rows.h"
#include "pax/kernels/handlers.h"
#include "pax/kernels/product.h"
#include "pax/kernels/scratch.h"

namespace pax {
namespace {

// B: batch, T: queries, S: keys, N: heads, H: dimension of a head.

/// Queries whose logits are held at a time.
constexpr int64_t kRows = 128;

using Array = KernelCall::Array;

/// One head of one row of the batch of [B, L, N, H], positions `of`, as a matrix [L, H].
MatrixView head(const Array& x, int64_t b, int64_t n, Piece of) {
  const int64_t length = x.dims[1], heads = x.dims[2], dim = x.dims[3];
  const int64_t at = ((b * length + of.begin) * heads + n) * dim;
  return {.data = x.as<const char>() + at * static_cast<int64_t>(byte_size(x.dtype)),
          .dtype = x.dtype,
          .rows = of.end - of.begin,
          .cols = dim,
          .row_stride = heads * dim,
          .col_stride = 1};
}
MatrixTarget target(const MatrixView& m) { return {const_cast<void*>(m.data), m.dtype, m.row_stride}; }
MatrixView as_matrix(const float* data, int64_t rows, int64_t cols) { return {data, DType::kF32, rows, cols, cols, 1}; }

uint16_t to_bf16(float value) { return BFloat16(value).bits; }

/// A matrix of f32 in the type of what it will be multiplied with.
class Factor {
 public:
  Factor(DType dtype, int64_t most) {
    if (dtype == DType::kBF16) halves_.emplace(most);
  }
  MatrixView of(const float* data, int64_t rows, int64_t cols) {
    if (!halves_) return as_matrix(data, rows, cols);
    for (int64_t i = 0; i < rows * cols; ++i) (*halves_)[i] = to_bf16(data[i]);
    return {halves_->data(), DType::kBF16, rows, cols, cols, 1};
  }

 private:
  std::optional<Scratch<uint16_t>> halves_;
};

/// The operands of attention.
struct Inputs {
  Array query, key, value, mask;
  double cap;

  explicit Inputs(const KernelCall& call)
      : query(call.operand(0)),
        key(call.operand(1)),
        value(call.operand(2)),
        mask(call.operand(3)),
        cap(call.number("cap")) {}
  int64_t batch() const { return query.dims[0]; }
  int64_t queries() const { return query.dims[1]; }
  int64_t keys() const { return key.dims[1]; }
  int64_t heads() const { return query.dims[2]; }
  int64_t dim() const { return query.dims[3]; }

  const float* mask_row(int64_t b, int64_t t) const {
    const int64_t rows = mask.dims[2];
    return mask.as<const float>() + ((mask.dims[0] == 1 ? 0 : b) * rows + (rows == 1 ? 0 : t)) * keys();
  }

  /// The keys that any of the queries may look at: all of them when one may look nowhere.
  Piece seen(int64_t b, Piece rows) const {
    Piece seen{keys(), 0};
    for (int64_t t = rows.begin; t < rows.end; ++t) {
      const float* row = mask_row(b, t);
      int64_t end = keys(), begin = 0;
      while (end > 0 && !(row[end - 1] >= kLeastAllowed)) --end;
      if (end == 0) return {0, keys()};
      while (!(row[begin] >= kLeastAllowed)) ++begin;
      seen = {std::min(seen.begin, begin), std::max(seen.end, end)};
    }
    return seen;
  }
};

/// The weights of some queries of one head, without those of keys that none of them sees.
struct Weights {
  Piece rows, keys;
  float* probs;
  float* slope;  ///< null without a cap

  int64_t height() const { return rows.end - rows.begin; }
  int64_t width() const { return keys.end - keys.begin; }

  void compute(const Inputs& in, int64_t b, int64_t n) const {
    multiply(head(in.query, b, n, rows), head(in.key, b, n, keys).transposed(), {probs, DType::kF32, width()},
             run_in_order);
    for (int64_t i = 0; i < height(); ++i) softmax_row(row(in, b, probs, i), in.cap, slope_row(i));
  }
  LogitRow row(const Inputs& in, int64_t b, float* data, int64_t i) const {
    return {data + i * width(), in.mask_row(b, rows.begin + i) + keys.begin, width()};
  }
  float* slope_row(int64_t i) const { return slope == nullptr ? nullptr : slope + i * width(); }
};

/// dQ, dK and dV of one head.
class HeadGradient {
 public:
  HeadGradient(const Inputs& in, const Array& grad, int64_t b, int64_t n)
      : in_(in),
        grad_(grad),
        b_(b),
        n_(n),
        most_(std::min(kRows, in.queries()) * in.keys()),
        probs_(most_),
        d_probs_(most_),
        slope_(in.cap > 0 ? most_ : 0),
        factor_(in.query.dtype, most_),
        d_key_(in.keys() * in.dim()),
        d_value_(in.keys() * in.dim()) {
    std::fill_n(d_key_.data(), in.keys() * in.dim(), 0.0f);
    std::fill_n(d_value_.data(), in.keys() * in.dim(), 0.0f);
  }

  void compute(const Array& d_query, const Array& d_key, const Array& d_value) {
    for (int64_t t = 0; t < in_.queries(); t += kRows) {
      add_rows({t, std::min(t + kRows, in_.queries())}, d_query);
    }
    write(d_key_.data(), d_key);
    write(d_value_.data(), d_value);
  }

 private:
  void add_rows(Piece rows, const Array& d_query) {
    const Weights w{rows, in_.seen(b_, rows), probs_.data(), in_.cap > 0 ? slope_.data() : nullptr};
    w.compute(in_, b_, n_);
    const MatrixView grad = head(grad_, b_, n_, rows);
    multiply(grad, head(in_.value, b_, n_, w.keys).transposed(), {d_probs_.data(), DType::kF32, w.width()},
             run_in_order);
    for (int64_t i = 0; i < w.height(); ++i) {
      softmax_grad_row(w.row(in_, b_, d_probs_.data(), i), w.probs + i * w.width(), w.slope_row(i));
    }
    const int64_t first = w.keys.begin * in_.dim();
    multiply(factor_.of(w.probs, w.height(), w.width()).transposed(), grad,
             {d_value_.data() + first, DType::kF32, in_.dim(), true}, run_in_order);
    const MatrixView d_logits = factor_.of(d_probs_.data(), w.height(), w.width());
    multiply(d_logits.transposed(), head(in_.query, b_, n_, rows),
             {d_key_.data() + first, DType::kF32, in_.dim(), true}, run_in_order);
    multiply(d_logits, head(in_.key, b_, n_, w.keys), target(head(d_query, b_, n_, rows)), run_in_order);
  }

  void write(const float* sums, const Array& to) const {
    const MatrixView out = head(to, b_, n_, {0, in_.keys()});
    for (int64_t s = 0; s < out.rows; ++s) {
      for (int64_t h = 0; h < out.cols; ++h) {
        const int64_t at = s * out.row_stride + h;
        const float value = sums[s * out.cols + h];
        if (out.dtype == DType::kF32) {
          static_cast<float*>(const_cast<void*>(out.data))[at] = value;
        } else {
          static_cast<uint16_t*>(const_cast<void*>(out.data))[at] = to_bf16(value);
        }
      }
    }
  }

  const Inputs& in_;
  const Array& grad_;
  const int64_t b_, n_, most_;
  Scratch<float> probs_, d_probs_, slope_;
  Factor factor_;
  Scratch<float> d_key_, d_value_;
};

}  // namespace

void attention_kernel(const KernelCall& call) {
  const Inputs in(call);
  const Array out = call.result(0);
  const int64_t blocks = (in.queries() + kRows - 1) / kRows;
  call.parallel()(in.batch() * in.heads() * blocks, [&](int64_t task) {
    const int64_t b = task / blocks / in.heads(), n = task / blocks % in.heads(), first = task % blocks * kRows;
    const Piece rows{first, std::min(first + kRows, in.queries())};
    const Piece keys = in.seen(b, rows);
    const int64_t size = (rows.end - rows.begin) * (keys.end - keys.begin);
    Scratch<float> probs(size), slope(in.cap > 0 ? size : 0);
    const Weights w{rows, keys, probs.data(), in.cap > 0 ? slope.data() : nullptr};
    w.compute(in, b, n);
    Factor factor(in.query.dtype, size);
    multiply(factor.of(w.probs, w.height(), w.width()), head(in.value, b, n, keys), target(head(out, b, n, rows)),
             run_in_order);
  });
}

void attention_grad_kernel(const KernelCall& call) {
  const Inputs in(call);
  const Array grad = call.operand(4);
  const Array d_query = call.result(0), d_key = call.result(1), d_value = call.result(2);
  call.parallel()(in.batch() * in.heads(), [&](int64_t task) {
    HeadGradient(in, grad, task / in.heads(), task % in.heads()).compute(d_query, d_key, d_value);
  });
}

}  // namespace pax
