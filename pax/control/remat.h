#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "pax/control/remat_policy.h"

namespace pax {

/// Runs `body`; its gradient keeps of the intermediate values only what `policy` says and computes the rest again.
/// A null policy keeps everything.
std::vector<Tensor> remat(Graph& graph, std::shared_ptr<const RematPolicy> policy, std::span<const Tensor> inputs,
                          const std::function<std::vector<Tensor>(std::span<const Tensor>)>& body);

/// What the gradient of a block of layers keeps (praxis/layers/checkpoint_policy.py). The names that the policies know
/// are those that layers give with `checkpoint_name`.
enum class AutodiffCheckpointType : uint8_t {
  kSaveEverything,
  kSaveNothing,
  kSaveDotOnly,
  kSaveDotWithNoBatchDim,
  kSaveQkvOutProj,
  kSaveQkvOutProjSeparate,
  kSaveOutProj,
  kSaveContext,
  kSaveContextAndOutProj,
  kSaveDotForMlperf200B,
  kSaveIterationInput,
  kSaveTransformerLayerOutput,
  kSaveQuantized,
  kSaveDotExceptLogits,
  kSaveDotExceptLogitsFfn1,
  kSaveUnetConv,
  kSaveUnetAllConv,
};

/// Names in configs: Pax's enumerators (`SAVE_NOTHING`) and their values (`save_nothing`).
std::span<const std::pair<AutodiffCheckpointType, std::string_view>> enum_names(AutodiffCheckpointType);

/// The policy of that name; null for SAVE_EVERYTHING.
std::shared_ptr<const RematPolicy> remat_policy(AutodiffCheckpointType type);

}  // namespace pax
