#pragma once

#include <complex>
#include <vector>

#include "pax/layers/layer.h"

namespace pax {

// B: batch, L: positions, D: channels, N: states.

/// How the states of a diagonal state-space model decay and turn: the diagonal of A, `states` numbers. Types ending in
/// "legs" or "lagt" are those of HiPPO (Gu et al. 2022, S4D); all others are linear in frequency.
std::vector<std::complex<double>> state_spectrum(std::string_view hippo_type, int64_t states);

/// A diagonal state-space model in each channel, x' = A x + u, y = Re(C x) + D u, as one convolution over the positions
/// (praxis ssm.SSM, S4D): [B, L, D] -> [B, L, D]. A and the step are not trained.
class SSM : public Layer {
 public:
  using Interface = SSM;
  struct Config : LayerConfig {
    using Product = SSM;
    static constexpr std::string_view kName = "praxis.layers.SSM";
    static constexpr std::string_view kAliases[] = {"praxis.layers.ssm.SSM"};
    static constexpr std::string_view kDoc = "A diagonal state-space model in each channel (S4D).";
    int64_t nheads = 0;
    int64_t dim = 0;
    int64_t l_max = 0;
    int64_t decode_num_samples = 0;
    double step_size = 0.01;
    std::string hippo_type = "ss4d-1d";
    static void fields(auto& self, auto&& visit) {
      LayerConfig::fields(self, visit);
      visit("nheads", self.nheads, "N.");
      visit("dim", self.dim, "D.");
      visit("l_max", self.l_max, "Longest input.");
      visit("decode_num_samples", self.decode_num_samples);
      visit("step_size", self.step_size, "Time from one position to the next.");
      visit("hippo_type", self.hippo_type, "How states decay and turn: ends in legs or lagt, or linear.");
    }
  };
  SSM(const Config& config, const Scope& scope);
  Tensor fprop(Tensor x) const override;

 protected:
  struct Variables {
    Shape c;       ///< of C_re and C_im
    double c_std;  ///< of their first values
    Shape d;       ///< of D
  };
  SSM(const Config& config, const Scope& scope, const Variables& variables);

  /// What input l positions ago is to each state, real and imaginary part [positions, N].
  struct Response {
    Tensor re, im;
  };
  Response response(int64_t positions) const;

  const Config config_;
  Tensor c_re_, c_im_, d_;
};
extern template const config::ConfigType& config::type_of<SSM::Config>();

/// One state-space model of all channels together (praxis ssm.S5; Smith et al. 2023). As in Praxis every state is fed
/// with the sum of the channels: the variables B_re and B_im are there but not used.
class S5 final : public SSM {
 public:
  struct Config : SSM::Config {
    using Product = S5;
    static constexpr std::string_view kName = "praxis.layers.ssm.S5";
    static constexpr std::string_view kAliases[] = {"praxis.layers.S5"};
    static constexpr std::string_view kDoc = "One diagonal state-space model of all channels (S5).";
  };
  S5(const Config& config, const Scope& scope);
  Tensor fprop(Tensor x) const override;
};
extern template const config::ConfigType& config::type_of<S5::Config>();

}  // namespace pax
