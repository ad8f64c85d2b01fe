#include "pax/layers/ssm/state_space.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "pax/base/error.h"
#include "pax/ops/constant.h"
#include "pax/ops/convert.h"
#include "pax/ops/convolution.h"
#include "pax/ops/dot.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/reduce.h"
#include "pax/ops/reshape.h"
#include "pax/ops/slice.h"

namespace pax {
namespace {

using Matrix = std::vector<std::vector<double>>;

/// Eigenvalues of a symmetric matrix in ascending order, by Jacobi's rotations.
std::vector<double> eigenvalues(Matrix a) {
  const size_t n = a.size();
  for (int sweep = 0; sweep < 60; ++sweep) {
    double off = 0;
    for (size_t p = 0; p < n; ++p) {
      for (size_t q = p + 1; q < n; ++q) off += a[p][q] * a[p][q];
    }
    if (off < 1e-22) break;
    for (size_t p = 0; p < n; ++p) {
      for (size_t q = p + 1; q < n; ++q) {
        if (std::abs(a[p][q]) < 1e-18) continue;
        const double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
        const double t = std::copysign(1.0, theta) / (std::abs(theta) + std::sqrt(theta * theta + 1));
        const double c = 1 / std::sqrt(t * t + 1), s = t * c;
        for (size_t k = 0; k < n; ++k) {
          const double kp = a[k][p], kq = a[k][q];
          a[k][p] = c * kp - s * kq;
          a[k][q] = s * kp + c * kq;
        }
        for (size_t k = 0; k < n; ++k) {
          const double pk = a[p][k], qk = a[q][k];
          a[p][k] = c * pk - s * qk;
          a[q][k] = s * pk + c * qk;
        }
      }
    }
  }
  std::vector<double> values;
  for (size_t i = 0; i < n; ++i) values.push_back(a[i][i]);
  std::ranges::sort(values);
  return values;
}

/// HiPPO's matrix plus its rank-one term: a skew-symmetric matrix minus a half.
Matrix normal_hippo(bool legs, int64_t states) {
  const auto n = static_cast<size_t>(states);
  Matrix s(n, std::vector<double>(n));
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < n; ++j) {
      const auto x = static_cast<double>(i), y = static_cast<double>(j);
      const double lower = legs ? std::sqrt((1 + 2 * x) * (1 + 2 * y)) : 1.0;
      s[i][j] = j > i ? 0 : -(lower - (legs && i == j ? x : 0));
      s[i][j] += legs ? std::sqrt((x + 0.5) * (y + 0.5)) : 0.5;
    }
  }
  return s;
}

std::vector<std::complex<double>> hippo_spectrum(bool legs, int64_t states) {
  const auto n = static_cast<size_t>(states);
  const Matrix s = normal_hippo(legs, states);
  // -i K with K skew-symmetric has the eigenvalues of [[0, K], [-K, 0]], which has each of them twice.
  Matrix twice(2 * n, std::vector<double>(2 * n));
  double real = 0;
  for (size_t i = 0; i < n; ++i) {
    real += s[i][i] / static_cast<double>(n);
    for (size_t j = 0; j < n; ++j) {
      const double skew = (s[i][j] - s[j][i]) / 2;
      twice[i][n + j] = skew;
      twice[n + i][j] = -skew;
    }
  }
  const std::vector<double> turns = eigenvalues(std::move(twice));
  std::vector<std::complex<double>> spectrum;
  for (size_t i = 0; i < n; ++i) spectrum.emplace_back(real, turns[2 * i] * (legs ? 1.0 : static_cast<double>(n)));
  return spectrum;
}

Tensor matrix(Graph& graph, const std::vector<float>& values, int64_t rows, int64_t columns) {
  return constant(graph, HostArray::of<float>(std::span<const float>(values), {rows, columns}));
}

/// y[b, t, :] = sum over j of kernel[j, :] * x[b, t - j, …]: x is [B, L, D], or [B, L, 1] that all channels share.
Tensor convolve_past(Tensor x, Tensor kernel) {
  const int64_t positions = kernel.dim(0);
  const Tensor weights = expand_dims(reverse(kernel, {0}), 1);
  return convolution(x, weights,
                     {.dims = channels_last(1), .padding = {{positions - 1, 0}}, .feature_groups = x.dim(2)});
}

}  // namespace

std::vector<std::complex<double>> state_spectrum(std::string_view hippo_type, int64_t states) {
  if (hippo_type.ends_with("legs")) return hippo_spectrum(true, states);
  if (hippo_type.ends_with("lagt")) return hippo_spectrum(false, states);
  std::vector<std::complex<double>> spectrum;
  const double n = static_cast<double>(states), step = std::numbers::pi / n * (n - 1);
  for (int64_t i = 0; i < states; ++i) {
    spectrum.emplace_back(-0.5, -std::numbers::pi / 2 * (n - 1) + static_cast<double>(i) * step);
  }
  return spectrum;
}

SSM::SSM(const Config& config, const Scope& scope)
    : SSM(config, scope, {.c = {config.nheads, config.dim}, .c_std = std::sqrt(0.5), .d = {1, config.dim}}) {}

SSM::SSM(const Config& config, const Scope& scope, const Variables& variables) : Layer(config, scope), config_(config) {
  if (config.nheads < 1 || config.dim < 1) {
    pax::fail<ConfigError>("{}: nheads is {} and dim is {}; set both to 1 or more", scope.path(), config.nheads,
                           config.dim);
  }
  d_ = param("D", {.shape = variables.d, .init = WeightInit::constant(1.0), .split = weight_split("wt")});
  const ParamSpec c{.shape = variables.c, .init = WeightInit::gaussian(variables.c_std), .split = weight_split("wt")};
  c_re_ = param("C_re", c);
  c_im_ = param("C_im", c);
}

SSM::Response SSM::response(int64_t positions) const {
  const std::vector<std::complex<double>> a = state_spectrum(config_.hippo_type, config_.nheads);
  std::vector<float> re, im;
  for (int64_t l = 0; l < positions; ++l) {
    for (const std::complex<double>& state : a) {
      const std::complex<double> turned = std::exp(config_.step_size * state);
      const std::complex<double> value =
          (turned - 1.0) / state * std::exp(static_cast<double>(l) * config_.step_size * state);
      re.push_back(static_cast<float>(value.real()));
      im.push_back(static_cast<float>(value.imag()));
    }
  }
  return {matrix(graph(), re, positions, config_.nheads), matrix(graph(), im, positions, config_.nheads)};
}

Tensor SSM::fprop(Tensor x) const {
  if (x.rank() != 3 || x.dim(2) != config_.dim || x.dim(1) > config_.l_max) {
    fail(fmt::format("input is {}; it must be [B, L, {}] with L at most l_max, which is {}", to_string(x.type()),
                     config_.dim, config_.l_max));
  }
  const Response state = response(x.dim(1));
  const Tensor kernel = einsum("nd,ln->ld", convert(c_re_, DType::kF32), state.re) -
                        einsum("nd,ln->ld", convert(c_im_, DType::kF32), state.im);
  return convolve_past(convert(x, DType::kF32), kernel) + convert(expand_dims(d_, 0) * x, DType::kF32);
}

S5::S5(const Config& config, const Scope& scope)
    : SSM(config, scope,
          {.c = {config.dim, config.nheads},
           .c_std = std::sqrt(1.0 / static_cast<double>(config.nheads)),
           .d = {config.dim}}) {
  const ParamSpec b{.shape = {config.nheads, config.dim},
                    .init = WeightInit::gaussian(std::sqrt(1.0 / static_cast<double>(config.dim))),
                    .split = weight_split("wt")};
  param("B_re", b);
  param("B_im", b);
}

Tensor S5::fprop(Tensor x) const {
  if (x.rank() != 3 || x.dim(2) != config_.dim) {
    fail(fmt::format("input is {}; it must be [B, L, {}]", to_string(x.type()), config_.dim));
  }
  const Response state = response(x.dim(1));
  const Tensor kernel = einsum("dn,ln->ld", convert(c_re_, DType::kF32), state.re) -
                        einsum("dn,ln->ld", convert(c_im_, DType::kF32), state.im);
  const Tensor fed = expand_dims(reduce_sum(convert(x, DType::kF32), {2}), -1);
  return convolve_past(fed, kernel) + convert(d_ * x, DType::kF32);
}

template const config::ConfigType& config::type_of<SSM::Config>();
template const config::ConfigType& config::type_of<S5::Config>();

}  // namespace pax
