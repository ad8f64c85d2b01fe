#pragma once

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "pax/config/tpl.h"
#include "pax/params/param_spec.h"

namespace pax {

/// What a layer takes from the layer around it unless its own config says otherwise (Praxis copies these from parent to
/// child when the child leaves them unset).
struct Inherited {
  DType dtype = DType::kF32;        ///< of variables
  DType fprop_dtype = DType::kF32;  ///< of activations
  WeightInit params_init{};
  bool skip_lp_regularization = false;
  std::vector<std::string> mesh_axis_names{};
};

/// One trace of a model into a program: its mode, its variables, its instances of shared layers.
class ModelTrace {
 public:
  enum class Mode : uint8_t { kTrain, kEval };

  ModelTrace(Graph& graph, Mode mode) : graph_(graph), mode_(mode) {}
  ModelTrace(const ModelTrace&) = delete;
  ModelTrace& operator=(const ModelTrace&) = delete;

  Graph& graph() const { return graph_; }
  Mode mode() const { return mode_; }
  /// Key (u32[2]) of everything random in this step. Layers that draw throw ShapeError when it was never given.
  Tensor random_key{};
  /// Update index of the step (i32 scalar), for what is scheduled by it; null outside of training.
  Tensor step{};

  /// In order of declaration; addresses stay.
  const std::deque<Param>& params() const { return params_; }
  const Param* find(std::string_view state_name) const;
  int64_t num_params() const;  ///< elements of the trainable collection

 private:
  friend class Scope;
  Graph& graph_;
  const Mode mode_;
  std::deque<Param> params_;
  std::unordered_map<std::string, Param*> by_name_;
  std::unordered_map<int, std::shared_ptr<void>> shared_instances_;
};

/// A place in the tree of layers while a model is traced: knows its path, what it inherits and the loops around it.
/// Cheap to copy. This is the build context of layers.
class Scope {
 public:
  explicit Scope(ModelTrace& trace, Inherited inherited = {}) : trace_(&trace), inherited_(std::move(inherited)) {}

  Graph& graph() const { return trace_->graph(); }
  ModelTrace& trace() const { return *trace_; }
  const std::string& path() const { return path_; }
  const Inherited& inherited() const { return inherited_; }
  bool do_eval() const { return trace_->mode() == ModelTrace::Mode::kEval; }

  Scope child(std::string_view name) const;
  Scope with(Inherited inherited) const;
  /// The scope of a layer that loop `loop` runs `times` times: its variables get a leading dimension, and inside the
  /// loop stand for the present repetition's slice. `split` is how that dimension is split over the mesh.
  Scope repeated(int64_t times, int64_t loop, std::vector<std::string> split = {}) const;

  /// Declares variable `name` and gives its value, in fprop_dtype and of `spec.shape`. Nothing is allocated.
  /// Throws ConfigError when the name is taken.
  Tensor param(std::string_view name, ParamSpec spec) const;

  /// A key (u32[2]) that depends on the step, this path, the repetition and `index`, on nothing else: not on the mesh,
  /// not on remat. Distinct draws of one layer take distinct `index`.
  Tensor random_key(int64_t index = 0) const;

  /// Hand results out of the forward pass from any depth (Praxis add_aux_loss, add_summary, update_var). Inside loops
  /// they are stacked. A null weight is 1.
  void add_aux_loss(std::string_view name, Tensor value, Tensor weight = {}) const;
  void add_summary(std::string_view name, Tensor value) const;
  /// Anything else that a layer around this one looks for, by channel.
  void add_side_result(std::string_view channel, std::string_view name, Tensor value) const;
  /// The next value of variable `name` of this layer, in its stored dtype.
  void update(std::string_view name, Tensor value) const;

  /// Where instances of layers shared by config are kept: see Tpl::build.
  std::shared_ptr<void>& shared_instance(const config::SharedMark& mark) const;

 private:
  struct Repeat {
    int64_t times;
    int64_t loop;
    std::vector<std::string> split;
    Tensor index;  ///< the repetition's number (i32), of use inside the loop
  };

  ModelTrace* trace_;
  Inherited inherited_;
  std::string path_;
  std::vector<Repeat> repeats_;  ///< outermost first
};

/// What a traced model left in the block being written.
struct SideResults {
  struct Named {
    std::string name;
    Tensor value;
  };
  struct AuxLoss {
    std::string path;  ///< of the layer, and the loss's name
    Tensor value, weight;
  };
  std::vector<AuxLoss> aux_losses;
  std::vector<Named> summaries;
  std::vector<Named> updates;  ///< by Param::state_name()
};

/// Takes the side results out of the block being written. Stacked auxiliary losses are summed.
SideResults take_side_results(Graph& graph);

}  // namespace pax
