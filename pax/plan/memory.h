#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pax/ir/sharding.h"
#include "pax/pjrt/executable.h"
#include "pax/task/steps.h"

namespace pax {

/// Something that takes memory, as the compiler names it.
struct Consumer {
  std::string what;  ///< layer path and type
  int64_t bytes = 0;
};

/// Bytes on one device.
struct MemoryPlan {
  int64_t weights = 0;
  int64_t optimizer_state = 0;
  int64_t batch = 0;
  int64_t activations = 0;  ///< the program's temporaries: what the backward pass keeps, gradients, scratch
  int64_t code = 0;
  int64_t peak = 0;
  int64_t capacity = 0;           ///< of the device; 0 when not known
  std::vector<Consumer> largest;  ///< of a program that does not fit

  bool fits() const { return capacity == 0 || peak <= capacity; }
};

/// Bytes of the part of an array that one device holds.
int64_t bytes_on_device(const TensorType& type, const Sharding& sharding, const Mesh& mesh);

/// What the state and the batch of a step take, and, where there is a compiled program, the program.
MemoryPlan plan_memory(const TracedProgram& step, const Mesh& mesh, int64_t capacity);
void add_program(MemoryPlan& memory, const MemoryStats& stats);

/// What a compiler says that refuses a program for its size: peak, capacity and the largest consumers, as far as they
/// can be read in `message`.
void add_refusal(MemoryPlan& memory, std::string_view message);

}  // namespace pax
