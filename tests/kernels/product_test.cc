#include "pax/kernels/product.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <thread>
#include <vector>

namespace pax {
namespace {

using Multiply = void (*)(const MatrixView&, const MatrixView&, const MatrixTarget&, const ParallelFor&);

enum class Order : uint8_t { kRows, kColumns };

/// A matrix with its elements in memory, f32 or bf16.
class Matrix {
 public:
  Matrix(int64_t rows, int64_t cols, DType dtype, Order order = Order::kRows)
      : rows_(rows), cols_(cols), dtype_(dtype), order_(order), bytes_(static_cast<size_t>(rows * cols) * 4) {}

  void fill(uint64_t seed) {
    std::mt19937_64 generator(seed);
    std::normal_distribution<float> normal;
    for (int64_t i = 0; i < rows_ * cols_; ++i) set(i, normal(generator));
  }
  void set(int64_t i, float value) {
    if (dtype_ == DType::kF32) {
      std::memcpy(&bytes_[static_cast<size_t>(4 * i)], &value, 4);
    } else {
      const BFloat16 rounded(value);
      std::memcpy(&bytes_[static_cast<size_t>(2 * i)], &rounded, 2);
    }
  }
  double at(int64_t row, int64_t col) const {
    const int64_t i = order_ == Order::kRows ? row * cols_ + col : col * rows_ + row;
    uint32_t bits = 0;
    if (dtype_ == DType::kF32) {
      std::memcpy(&bits, &bytes_[static_cast<size_t>(4 * i)], 4);
    } else {
      uint16_t half = 0;
      std::memcpy(&half, &bytes_[static_cast<size_t>(2 * i)], 2);
      bits = uint32_t{half} << 16;
    }
    float value = 0;
    std::memcpy(&value, &bits, 4);
    return value;
  }
  int64_t rows() const { return rows_; }
  int64_t cols() const { return cols_; }
  MatrixView view() const {
    return {
        bytes_.data(), dtype_, rows_, cols_, order_ == Order::kRows ? cols_ : 1, order_ == Order::kRows ? 1 : rows_};
  }
  MatrixTarget target() { return {bytes_.data(), dtype_, cols_}; }

 private:
  int64_t rows_, cols_;
  DType dtype_;
  Order order_;
  std::vector<char> bytes_;
};

/// The largest difference of `c` = a b to sums in f64, in units of the sum of absolute products.
double worst_error(const Matrix& a, const Matrix& b, const Matrix& c) {
  double worst = 0;
  for (int64_t i = 0; i < c.rows(); ++i) {
    for (int64_t j = 0; j < c.cols(); ++j) {
      double sum = 0, size = 1e-30;
      for (int64_t l = 0; l < a.cols(); ++l) {
        sum += a.at(i, l) * b.at(l, j);
        size += std::abs(a.at(i, l) * b.at(l, j));
      }
      worst = std::max(worst, std::abs(c.at(i, j) - sum) / size);
    }
  }
  return worst;
}

double worst_error(Multiply multiply, const Matrix& a, const Matrix& b, Matrix& c) {
  multiply(a.view(), b.view(), c.target(), run_in_order);
  return worst_error(a, b, c);
}

/// The same of sums that are added up one by one in f32.
double error_of_f32(const Matrix& a, const Matrix& b) {
  Matrix c(a.rows(), b.cols(), DType::kF32);
  for (int64_t i = 0; i < c.rows(); ++i) {
    for (int64_t j = 0; j < c.cols(); ++j) {
      float sum = 0;
      for (int64_t l = 0; l < a.cols(); ++l) sum += static_cast<float>(a.at(i, l)) * static_cast<float>(b.at(l, j));
      c.set(i * c.cols() + j, sum);
    }
  }
  return worst_error(a, b, c);
}

std::vector<Multiply> ways() {
  std::vector<Multiply> all{multiply_by_vectors};
  if (has_tile_products()) all.push_back(multiply_by_tiles);
  return all;
}

struct Size {
  int64_t m, n, k;
};
constexpr Size kOddSizes[] = {{1, 1, 1},    {1, 40, 7},    {33, 47, 65},  {32, 32, 32},
                              {5, 129, 31}, {66, 31, 257}, {97, 130, 515}};

TEST(Product, OfF32IsAsExactAsF32) {
  for (const Multiply multiply : ways()) {
    for (const auto& [m, n, k] : kOddSizes) {
      for (const Order of_a : {Order::kRows, Order::kColumns}) {
        for (const Order of_b : {Order::kRows, Order::kColumns}) {
          Matrix a(m, k, DType::kF32, of_a), b(k, n, DType::kF32, of_b), c(m, n, DType::kF32);
          a.fill(1);
          b.fill(2);
          EXPECT_LT(worst_error(multiply, a, b, c), 2 * error_of_f32(a, b)) << m << " " << n << " " << k;
        }
      }
    }
  }
}

TEST(Product, OfBf16SumsInF32) {
  for (const Multiply multiply : ways()) {
    for (const auto& [m, n, k] : kOddSizes) {
      for (const Order of_a : {Order::kRows, Order::kColumns}) {
        for (const Order of_b : {Order::kRows, Order::kColumns}) {
          Matrix a(m, k, DType::kBF16, of_a), b(k, n, DType::kBF16, of_b), c(m, n, DType::kF32);
          a.fill(1);
          b.fill(2);
          EXPECT_LT(worst_error(multiply, a, b, c), 1e-6) << m << " " << n << " " << k;
        }
      }
    }
  }
}

TEST(Product, RoundsBf16ResultsOnce) {
  for (const Multiply multiply : ways()) {
    Matrix a(40, 3000, DType::kBF16), b(3000, 40, DType::kBF16), c(40, 40, DType::kBF16);
    a.fill(1);
    b.fill(2);
    EXPECT_LT(worst_error(multiply, a, b, c), 1.0 / 256);
  }
}

TEST(Product, AddsWhenAskedTo) {
  for (const Multiply multiply : ways()) {
    Matrix a(35, 9, DType::kF32), b(9, 41, DType::kF32), once(35, 41, DType::kF32), twice(35, 41, DType::kF32);
    a.fill(1);
    b.fill(2);
    multiply(a.view(), b.view(), once.target(), run_in_order);
    multiply(a.view(), b.view(), twice.target(), run_in_order);
    MatrixTarget more = twice.target();
    more.add = true;
    multiply(a.view(), b.view(), more, run_in_order);
    for (int64_t i = 0; i < 35; ++i) {
      for (int64_t j = 0; j < 41; ++j) EXPECT_FLOAT_EQ(twice.at(i, j), 2 * once.at(i, j));
    }
  }
}

TEST(Product, IsTheSameOnSeveralThreads) {
  const ParallelFor two_threads = [](int64_t tasks, const std::function<void(int64_t)>& body) {
    std::atomic<int64_t> next = 0;
    const auto work = [&] {
      for (int64_t i = next++; i < tasks; i = next++) body(i);
    };
    std::thread other(work);
    work();
    other.join();
  };
  for (const Multiply multiply : ways()) {
    Matrix a(300, 2100, DType::kF32), b(2100, 70, DType::kF32), one(300, 70, DType::kF32), two(300, 70, DType::kF32);
    a.fill(1);
    b.fill(2);
    multiply(a.view(), b.view(), one.target(), run_in_order);
    multiply(a.view(), b.view(), two.target(), two_threads);
    for (int64_t i = 0; i < 300; ++i) {
      for (int64_t j = 0; j < 70; ++j) ASSERT_EQ(one.at(i, j), two.at(i, j));
    }
  }
}

TEST(Product, DenormalsCountAsNearlyNothing) {
  for (const Multiply multiply : ways()) {
    Matrix a(4, 8, DType::kF32), b(8, 4, DType::kF32), c(4, 4, DType::kF32);
    for (int64_t i = 0; i < 32; ++i) {
      a.set(i, 1e-39f);
      b.set(i, 2.0f);
    }
    multiply(a.view(), b.view(), c.target(), run_in_order);
    EXPECT_NEAR(c.at(0, 0), 0, 1e-37);
  }
}

TEST(Product, WhatIsNotFiniteStaysSo) {
  for (const Multiply multiply : ways()) {
    for (const float bad : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
      Matrix a(4, 8, DType::kF32), b(8, 4, DType::kF32), c(4, 4, DType::kF32);
      a.fill(1);
      b.fill(2);
      a.set(3, bad);
      multiply(a.view(), b.view(), c.target(), run_in_order);
      EXPECT_FALSE(std::isfinite(c.at(0, 0)));
      EXPECT_TRUE(std::isfinite(c.at(1, 0)));
    }
  }
}

TEST(Product, OverNothingIsZero) {
  for (const Multiply multiply : ways()) {
    Matrix a(3, 0, DType::kF32), b(0, 3, DType::kF32), c(3, 3, DType::kF32);
    c.fill(1);
    multiply(a.view(), b.view(), c.target(), run_in_order);
    EXPECT_EQ(c.at(2, 2), 0);
  }
}

}  // namespace
}  // namespace pax
