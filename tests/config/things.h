#pragma once

#include <string>
#include <unordered_map>

#include "pax/array/dtype.h"
#include "pax/config/config.h"
#include "pax/config/registry.h"

// A small world of configs that uses every kind of member.
namespace things {

using pax::DType;
using pax::Required;
using pax::Tpl;

struct Scope {
  std::string path;
  std::unordered_map<int, std::shared_ptr<void>>* instances = nullptr;
  std::shared_ptr<void>& shared_instance(const pax::config::SharedMark& mark) { return (*instances)[mark.id]; }
};

struct Layer {
  using Kind = Layer;
  using BuildContext = Scope;
  virtual ~Layer() = default;
  virtual std::string what() const = 0;
};
struct Attention : Layer {
  using Interface = Attention;
};

struct LayerConfig {
  std::string name;
  std::optional<DType> fprop_dtype;
  std::map<std::string, std::optional<std::vector<std::optional<std::variant<std::string, std::vector<std::string>>>>>>
      split;
  static void fields(auto& self, auto&& visit) {
    visit("name", self.name);
    visit("fprop_dtype", self.fprop_dtype);
    visit("split", self.split);
  }
};

class ReLU final : public Layer {
 public:
  struct Config : LayerConfig {
    using Product = ReLU;
    static constexpr std::string_view kName = "praxis.layers.ReLU";
  };
  ReLU(const Config&, const Scope&) {}
  std::string what() const override { return "relu"; }
};

class GELU final : public Layer {
 public:
  struct Config : LayerConfig {
    using Product = GELU;
    static constexpr std::string_view kName = "praxis.layers.GELU";
    bool approximate = true;
    static void fields(auto& self, auto&& visit) {
      LayerConfig::fields(self, visit);
      visit("approximate", self.approximate);
    }
  };
  GELU(const Config&, const Scope&) {}
  std::string what() const override { return "gelu"; }
};

class Linear final : public Layer {
 public:
  struct Config : LayerConfig {
    using Product = Linear;
    static constexpr std::string_view kName = "praxis.layers.Linear";
    static constexpr std::string_view kAliases[] = {"praxis.layers.linears.Linear"};
    Required<int64_t> input_dims{};
    int64_t output_dims = 0;
    static void fields(auto& self, auto&& visit) {
      LayerConfig::fields(self, visit);
      visit("input_dims", self.input_dims, "Size of the last axis of the input.");
      visit("output_dims", self.output_dims, {.min = 0});
    }
  };
  Linear(const Config& config, const Scope& scope) : what_(fmt(config, scope)) {}
  std::string what() const override { return what_; }

 private:
  static std::string fmt(const Config& config, const Scope& scope) {
    return scope.path + ":linear" + std::to_string(*config.input_dims) + "x" + std::to_string(config.output_dims);
  }
  std::string what_;
};

class DotProductAttention final : public Attention {
 public:
  struct Config : LayerConfig {
    using Product = DotProductAttention;
    static constexpr std::string_view kName = "praxis.layers.DotProductAttention";
    int64_t num_heads = 1;
    std::optional<int64_t> dim_per_head;
    double dropout_prob = 0;
    Tpl<Layer> proj_tpl = Linear::Config{};
    static void fields(auto& self, auto&& visit) {
      LayerConfig::fields(self, visit);
      visit("num_heads", self.num_heads, {.min = 1});
      visit("dim_per_head", self.dim_per_head);
      visit("dropout_prob", self.dropout_prob, {.doc = "Of the probabilities.", .min = 0, .max = 1});
      visit("proj_tpl", self.proj_tpl, {.fills = "input_dims"});
    }
  };
  DotProductAttention(const Config& config, const Scope& scope) {
    Tpl<Layer> proj = config.proj_tpl.clone();
    proj.set("input_dims", 8);
    proj_ = proj.build({scope.path + "/proj", scope.instances});
  }
  std::string what() const override { return "attention(" + proj_->what() + ")"; }

 private:
  std::shared_ptr<Layer> proj_;
};

enum class Norm { kPre, kPost };
inline std::span<const std::pair<Norm, std::string_view>> enum_names(Norm) {
  static constexpr std::pair<Norm, std::string_view> kNames[] = {{Norm::kPre, "pre"}, {Norm::kPost, "post"}};
  return kNames;
}

struct WeightInit {
  static constexpr std::string_view kName = "praxis.base_layer.WeightInit";
  std::string method = "xavier";
  double scale = 1.0;
  static void fields(auto& self, auto&& visit) {
    visit("method", self.method);
    visit("scale", self.scale);
  }
};

class Model final : public Layer {
 public:
  struct Config : LayerConfig {
    using Product = Model;
    static constexpr std::string_view kName = "praxis.layers.Model";
    static constexpr std::string_view kDoc = "Everything at once.";
    int64_t model_dims = 16;
    int32_t small = 3;
    float rate = 0.1f;
    DType dtype = DType::kF32;
    Norm norm_policy = Norm::kPre;
    WeightInit init{};
    std::optional<WeightInit> other_init;
    std::vector<int64_t> mesh_shape = {1, 4, 1};
    std::array<double, 2> limit = {0, 0.5};
    std::vector<std::string> names;
    std::map<std::string, int64_t> rules;
    std::variant<int64_t, std::vector<int64_t>> eos_id = int64_t{1};
    Tpl<Layer> activation_tpl = ReLU::Config{};
    Tpl<Attention> atten_tpl = DotProductAttention::Config{.num_heads = 4};
    Tpl<Layer> extra_tpl;
    std::vector<Tpl<Layer>> layers;
    std::vector<WeightInit> inits;
    pax::config::Value free;
    static void fields(auto& self, auto&& visit) {
      LayerConfig::fields(self, visit);
      visit("model_dims", self.model_dims, "Width.");
      visit("small", self.small);
      visit("rate", self.rate);
      visit("dtype", self.dtype);
      visit("norm_policy", self.norm_policy);
      visit("init", self.init);
      visit("other_init", self.other_init);
      visit("mesh_shape", self.mesh_shape, {.min = 1});
      visit("limit", self.limit);
      visit("names", self.names);
      visit("rules", self.rules);
      visit("eos_id", self.eos_id);
      visit("activation_tpl", self.activation_tpl);
      visit("atten_tpl", self.atten_tpl);
      visit("extra_tpl", self.extra_tpl);
      visit("layers", self.layers);
      visit("inits", self.inits);
      visit("free", self.free);
    }
    void validate(pax::config::Errors& errors) const {
      if (model_dims % 4 != 0) errors.add("model_dims", "must be a multiple of 4");
    }
  };
  Model(const Config&, const Scope&) {}
  std::string what() const override { return "model"; }
};

// Another kind, built without a context, with a class whose short name is taken by a layer.
struct Schedule {
  using Kind = Schedule;
  virtual ~Schedule() = default;
  virtual double at(int64_t step) const = 0;
};
class LinearSchedule final : public Schedule {
 public:
  struct Config {
    using Product = LinearSchedule;
    static constexpr std::string_view kName = "praxis.schedules.Linear";
    double slope = 2;
    static void fields(auto& self, auto&& visit) { visit("slope", self.slope); }
  };
  explicit LinearSchedule(const Config& config) : slope_(config.slope) {}
  double at(int64_t step) const override { return slope_ * static_cast<double>(step); }

 private:
  double slope_;
};

inline pax::config::Registry registry() {
  pax::config::Registry all;
  all.add<ReLU::Config>();
  all.add<GELU::Config>();
  all.add<Linear::Config>();
  all.add<DotProductAttention::Config>();
  all.add<Model::Config>();
  all.add<WeightInit>();
  all.add<LinearSchedule::Config>();
  return all;
}

/// A model that differs from the defaults in every member.
inline Tpl<Layer> busy_model() {
  Model::Config model{.model_dims = 32,
                      .small = -7,
                      .rate = 0.3f,
                      .dtype = DType::kBF16,
                      .norm_policy = Norm::kPost,
                      .init = {.method = "gaussian", .scale = 1e-6},
                      .other_init = WeightInit{.scale = 2},
                      .mesh_shape = {2, 2},
                      .limit = {-1, 1e30},
                      .names = {"plain", "null", "1e3", "with: colon", "", "ünï\n\"x\"", " edge ", "- dash", "true"},
                      .rules = {{"a.b", 1}, {"c", 2}, {"", 3}, {"true", 4}},
                      .eos_id = std::vector<int64_t>{1, 2},
                      .activation_tpl = GELU::Config{.approximate = false},
                      .extra_tpl = Linear::Config{.input_dims = 5},
                      .layers = {Linear::Config{.output_dims = 3}, Tpl<Layer>(), ReLU::Config{}},
                      .inits = {WeightInit{}, WeightInit{.method = "x"}}};
  model.name = "lm";
  model.fprop_dtype = DType::kF16;
  model.split["wt"] = {std::nullopt, "mdl", std::vector<std::string>{"data", "mdl"}};
  model.split["out"] = std::nullopt;
  model.free = pax::config::Value::map();
  model.free.add("k", pax::config::Value::of(1.5));
  model.atten_tpl.set("dropout_prob", 0.25);
  return model;
}

}  // namespace things
