#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "pax/config/config.h"
#include "pax/ir/graph.h"
#include "pax/params/scope.h"

namespace pax {

/// Mesh axes of one dimension in a config: none (null), one, or several.
using DimSplit = std::optional<std::variant<std::string, std::vector<std::string>>>;
/// Mesh axes of each dimension, as Praxis's split_dims_mapping writes them: `[null, data, [replica, mdl]]`.
using SplitDims = std::optional<std::vector<DimSplit>>;

/// Members that every layer's config has (praxis BaseLayer.HParams). Unset ones come from the layer around.
struct LayerConfig {
  std::string name;
  std::optional<DType> dtype;
  std::optional<DType> fprop_dtype;
  std::optional<WeightInit> params_init;
  std::optional<bool> skip_lp_regularization;
  std::optional<std::string> shared_weight_layer_id;
  std::optional<std::vector<int64_t>> ici_mesh_shape;  ///< devices of a slice, by mesh axis
  std::optional<std::vector<int64_t>> dcn_mesh_shape;  ///< slices, by mesh axis
  std::optional<std::vector<std::string>> mesh_axis_names;
  /// By name (`wt`, `out`, and what a layer adds): how weights and activations are split over the mesh.
  std::map<std::string, SplitDims> weight_split_dims_mapping;
  std::map<std::string, SplitDims> activation_split_dims_mapping;
  static void fields(auto& self, auto&& visit) {
    visit("name", self.name);
    visit("dtype", self.dtype);
    visit("fprop_dtype", self.fprop_dtype);
    visit("params_init", self.params_init);
    visit("skip_lp_regularization", self.skip_lp_regularization);
    visit("shared_weight_layer_id", self.shared_weight_layer_id);
    visit("ici_mesh_shape", self.ici_mesh_shape);
    visit("dcn_mesh_shape", self.dcn_mesh_shape);
    visit("mesh_axis_names", self.mesh_axis_names);
    visit("weight_split_dims_mapping", self.weight_split_dims_mapping);
    visit("activation_split_dims_mapping", self.activation_split_dims_mapping);
  }
};

template <class T>
class Child;

/// A layer: config, constructor that declares weights and children (Praxis setup), const `fprop`.
class Layer {
 public:
  using Kind = Layer;
  using BuildContext = Scope;

  Layer(const LayerConfig& config, const Scope& scope);
  virtual ~Layer() = default;
  Layer(const Layer&) = delete;
  Layer& operator=(const Layer&) = delete;

  /// The forward pass of layers with one input and one output; others declare their own. Throws ShapeError here.
  virtual Tensor fprop(Tensor x) const;

  const Scope& scope() const { return scope_; }

 protected:
  Graph& graph() const { return scope_.graph(); }
  bool do_eval() const { return scope_.do_eval(); }
  DType fprop_dtype() const { return scope_.inherited().fprop_dtype; }

  /// Declares weight `name`; see Scope::param.
  Tensor param(std::string_view name, ParamSpec spec) const { return scope_.param(name, std::move(spec)); }
  /// Builds child `name`.
  template <class T>
  Child<T> child(std::string_view name, const Tpl<T>& tpl) const;
  /// Builds child `name` of a known class.
  template <class C>
  requires config::Buildable<C> Child<typename C::Product> child(std::string_view name, const C& config)
  const;

  /// How the config splits weight `name` ("wt"); empty: not at all.
  std::vector<std::vector<std::string>> weight_split(std::string_view name) const;
  /// How it splits activation `name` ("out").
  std::vector<std::vector<std::string>> activation_split(std::string_view name) const;
  /// `x` with the config's split of activation `name` ("out") asked of the compiler; `x` itself when there is none.
  Tensor shard(Tensor x, std::string_view name) const;
  /// `x` with the split "out". Steps of decoding have no time dimension: at rank 2 "extend_step_out" comes first, and
  /// an "out" of three dimensions counts without its middle one.
  Tensor shard_out(Tensor x) const;

  /// Throws ShapeError: "layer/path: <message>".
  [[noreturn]] void fail(std::string_view message) const;

 private:
  Scope scope_;
  std::map<std::string, SplitDims> weight_split_, activation_split_;
};

/// Owns (or shares) a child layer. While one of its methods runs, its name is on the program's path: errors, profiles
/// and compiled programs show it. Empty when the config had none.
template <class T>
class Child {
 public:
  class Call {
   public:
    Call(const T* layer, std::string_view name) : layer_(layer), path_(layer->scope().graph(), name) {}
    const T* operator->() const { return layer_; }

   private:
    const T* layer_;
    Graph::PathGuard path_;
  };

  Child() = default;
  Child(std::string_view name, std::shared_ptr<T> layer) : name_(name), layer_(std::move(layer)) {}

  explicit operator bool() const { return layer_ != nullptr; }
  Call operator->() const { return Call(layer_.get(), name_); }
  const T& operator*() const { return *layer_; }

 private:
  std::string name_;
  std::shared_ptr<T> layer_;
};

template <class T>
Child<T> Layer::child(std::string_view name, const Tpl<T>& tpl) const {
  const Graph::PathGuard path(graph(), name);
  return Child<T>(name, tpl.build(scope_.child(name)));
}

template <class C>
requires config::Buildable<C> Child<typename C::Product> Layer::child(std::string_view name, const C& config)
const {
  const Graph::PathGuard path(graph(), name);
  return Child<typename C::Product>(name, std::make_shared<typename C::Product>(config, scope_.child(name)));
}

}  // namespace pax
