#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "pax/checkpoint/reader.h"
#include "pax/checkpoint/write.h"

namespace pax {

/// How one array of two checkpoints differs.
struct ArrayDifference {
  std::string name;
  std::optional<TensorType> left;   ///< nothing when only the right one has it
  std::optional<TensorType> right;  ///< nothing when only the left one has it
  /// Largest absolute difference of two elements, and how many differ; when the shapes are equal.
  double max_difference = 0;
  int64_t different_elements = 0;
};

/// The arrays that are not equal to the bit, in order of their names. Holds two arrays in memory at a time.
std::vector<ArrayDifference> compare(const CheckpointReader& left, const CheckpointReader& right);

/// Euclidean norm of an array's elements, in float64.
double norm(const HostArray& array);

/// The mean of several checkpoints of one model, element by element in float64; what is not floating (steps, counters)
/// is that of the last. Step and items are the last one's. Throws RuntimeError when their arrays are not the same.
Checkpoint average(std::span<const std::filesystem::path> checkpoints);

}  // namespace pax
